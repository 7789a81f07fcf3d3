#!/usr/bin/env node
// The door: refuses a Node that cannot run the bundle, in words, before anything else is loaded.
const [major, minor] = process.versions.node.split(".").map(Number)
if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(
    `colloquy: needs Node 22.19 or newer, and this is Node ${process.versions.node} (${process.execPath})\n`,
  )
  process.exit(1)
}
process.getBuiltinModule("node:module").enableCompileCache?.()
await import("../dist/colloquy.mjs").catch((error) => {
  if (error?.code !== "ERR_MODULE_NOT_FOUND") throw error
  process.stderr.write(`colloquy: not built yet, run \`npm run build\` (${error.message})\n`)
  process.exit(1)
})
