// Unpacks an artifact of this run as actions/download-artifact does. BENCH_MODULES
// is the folder whose node_modules has GitHub's packages.
const { createRequire } = require('node:module')
const path = require('node:path')

const from = createRequire(path.join(process.env.BENCH_MODULES, 'index.js'))
const core = from('@actions/core')
const { DefaultArtifactClient } = from('@actions/artifact')

async function download() {
  const client = new DefaultArtifactClient()
  const { artifact } = await client.getArtifact(core.getInput('name', { required: true }))
  const done = await client.downloadArtifact(artifact.id, { path: core.getInput('path', { required: true }) })
  core.setOutput('download-path', done.downloadPath)
}

download().catch((e) => core.setFailed(e.message))
