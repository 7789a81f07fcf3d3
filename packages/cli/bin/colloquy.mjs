#!/usr/bin/env node
// The door: refuses a Node that cannot run the program, in words, before anything else is loaded. Runs the bundle, or
// the sources where the bundle has not been built: in a checkout installed by `npm ci --ignore-scripts`.
const [major, minor] = process.versions.node.split(".").map(Number)
if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(
    `colloquy: needs Node 22.19 or newer, and this is Node ${process.versions.node} (${process.execPath})\n`,
  )
  process.exit(1)
}
process.getBuiltinModule("node:module").enableCompileCache?.()
const { existsSync } = process.getBuiltinModule("node:fs")
const entry = ["../dist/colloquy.mjs", "../src/main.ts"]
  .map((path) => new URL(path, import.meta.url))
  .find((url) => existsSync(url))
if (entry === undefined) {
  process.stderr.write("colloquy: the program is missing, run `npm run build`\n")
  process.exit(1)
}
// Effect reads a stack trace while it loads, for which V8 counts the lines of the whole bundle, and a client is waiting.
const limit = Error.stackTraceLimit
Error.stackTraceLimit = 0
const { main } = await import(entry.href)
Error.stackTraceLimit = limit
await main()
