// Uploads files as actions/upload-artifact does, but for overwriting: act cannot
// remove an artifact. BENCH_MODULES is the folder whose node_modules has GitHub's
// packages.
const { createRequire } = require('node:module')
const fs = require('node:fs')
const path = require('node:path')

const from = createRequire(path.join(process.env.BENCH_MODULES, 'index.js'))
const core = from('@actions/core')
const glob = from('@actions/glob')
const { DefaultArtifactClient } = from('@actions/artifact')

async function upload() {
  const name = core.getInput('name')
  const root = core.getInput('path', { required: true })
  const globber = await glob.create(root, { excludeHiddenFiles: !core.getBooleanInput('include-hidden-files') })
  const files = (await globber.glob()).filter((f) => fs.statSync(f).isFile())
  if (!files.length) {
    const text = `No files were found with the provided path: ${root}. No artifacts will be uploaded.`
    return core.getInput('if-no-files-found') === 'error' ? core.setFailed(text) : core.warning(text)
  }
  const done = await new DefaultArtifactClient().uploadArtifact(name, files, root, { compressionLevel: +core.getInput('compression-level') })
  core.setOutput('artifact-id', done.id)
  core.setOutput('artifact-digest', done.digest)
}

upload().catch((e) => core.setFailed(e.message))
