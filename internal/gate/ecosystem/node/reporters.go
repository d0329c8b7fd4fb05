package node

import "strings"

// nodeReporter is a reporter of "node --test" that reports the file of each test,
// which its own ones do not: a line of JSON for each test that ended. What a file is as a whole
// has the file for its name, which Node.js 21 and newer say from the folder where they run, and
// some of them as a name alone.
const nodeReporter = `import{inspect}from"node:util";import{resolve}from"node:path";import{existsSync}from"node:fs";` +
	`export default async function*(events){const said={};const full=f=>typeof f==="string"&&f?resolve(f):"";` +
	`for await(const{type,data:d}of events){` +
	`if(type==="test:stderr"||type==="test:stdout"){const f=full(d.file);said[f]=((said[f]||"")+d.message).slice(-8000)}` +
	`if(type==="test:pass"||type==="test:fail"){const e=d.details&&d.details.error;const c=e&&(e.cause||e);` +
	`const own=d.nesting===0?full(d.name):"";const file=d.file||(own&&existsSync(own)?own:undefined);` +
	`const whole=own&&own===full(file)&&(d.line===undefined||d.line===1&&d.column===1);` +
	`yield JSON.stringify({ok:type==="test:pass",name:whole?file:d.name,nesting:d.nesting,file,suite:d.details&&d.details.type==="suite",` +
	`skip:d.skip!==undefined,todo:d.todo!==undefined,ms:d.details&&d.details.duration_ms,kind:e&&e.failureType,` +
	`error:c?(typeof c==="string"?c:inspect(c)):"",said:type==="test:fail"?said[full(file)]:""})+"\n"}}yield"{\"end\":true}\n"}`

// escapeReporter makes it a module of its own, as a URL.
func escapeReporter(src string) string {
	return "data:text/javascript," + strings.NewReplacer("%", "%25", "?", "%3F", "#", "%23", "\n", "%0A", `"`, "%22", " ", "%20", `\`, "%5C").Replace(src)
}

// mochaReporter writes what mocha's own JSON reporter does into a file, which that one can
// since mocha 9.2 only. The events and what they have are those of mocha 3 and newer
// (https://mochajs.org/api/runner). It is written between single quotes of a shell.
const mochaReporter = `const fs=require("fs");` +
	`module.exports=function(runner,options){const to=options.reporterOptions||options.reporterOption;` +
	`const doc={stats:{failures:0},tests:[],pending:[],failures:[]};` +
	`const of=(t,e)=>{let file=t.file;for(let s=t.parent;!file&&s;s=s.parent)file=s.file;` +
	`const titles=[t.title];for(let s=t.parent;s;s=s.parent)if(s.title)titles.unshift(s.title);` +
	`return{titles,title:t.title,fullTitle:t.fullTitle(),file,duration:t.duration,state:t.state||(t.pending?"pending":""),currentRetry:t.currentRetry?t.currentRetry():0,` +
	`err:e?{message:String(e.message||e),stack:e.stack?String(e.stack):""}:{}}};` +
	`runner.on("test end",t=>doc.tests.push(of(t)));runner.on("pending",t=>doc.pending.push(of(t)));` +
	`runner.on("fail",(t,e)=>{doc.stats.failures++;doc.failures.push(of(t,e))});` +
	`runner.on("end",()=>fs.writeFileSync(to.output,JSON.stringify(doc)))};`
