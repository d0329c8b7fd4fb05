package node

import "strings"

// nodeReporter is a reporter of "node --test" that reports the file of each test,
// which its own ones do not: a line of JSON for each test that ended.
const nodeReporter = `import{inspect}from"node:util";` +
	`export default async function*(events){const said={};for await(const{type,data:d}of events){` +
	`if(type==="test:stderr"||type==="test:stdout"){said[d.file]=((said[d.file]||"")+d.message).slice(-8000)}` +
	`if(type==="test:pass"||type==="test:fail"){const e=d.details&&d.details.error;const c=e&&(e.cause||e);` +
	`yield JSON.stringify({ok:type==="test:pass",name:d.name,nesting:d.nesting,file:d.file,suite:d.details&&d.details.type==="suite",` +
	`skip:d.skip!==undefined,todo:d.todo!==undefined,ms:d.details&&d.details.duration_ms,kind:e&&e.failureType,` +
	`error:c?(typeof c==="string"?c:inspect(c)):"",said:type==="test:fail"?said[d.file]:""})+"\n"}}yield"{\"end\":true}\n"}`

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
	`return{title:t.title,fullTitle:t.fullTitle(),file,duration:t.duration,state:t.state||(t.pending?"pending":""),currentRetry:t.currentRetry?t.currentRetry():0,` +
	`err:e?{message:String(e.message||e),stack:e.stack?String(e.stack):""}:{}}};` +
	`runner.on("test end",t=>doc.tests.push(of(t)));runner.on("pending",t=>doc.pending.push(of(t)));` +
	`runner.on("fail",(t,e)=>{doc.stats.failures++;doc.failures.push(of(t,e))});` +
	`runner.on("end",()=>fs.writeFileSync(to.output,JSON.stringify(doc)))};`
