/** `npm run demo:svg`: records the demo of the built program on the offline model and writes `packages/docs/demo.svg`. */
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { root } from "../release/Workspace.ts"
import { demoSvg, type RecordedLine } from "./DemoSvg.ts"

const home = mkdtempSync(join(tmpdir(), "colloquy-demo-svg-"))
const program = join(root, "packages/cli/bin/colloquy.mjs")
const { OPENAI_API_KEY: _, ...env } = process.env
const child = spawn(process.execPath, [program, "demo"], {
  stdio: ["ignore", "pipe", "inherit"],
  env: { ...env, HOME: home, CODEX_HOME: home },
})
const startMs = performance.now()
const lines: Array<RecordedLine> = []
for await (const text of createInterface(child.stdout)) {
  lines.push({ atMs: performance.now() - startMs, text })
}
const code = child.exitCode ?? (await new Promise((resolve) => child.once("exit", resolve)))
rmSync(home, { recursive: true, force: true })
if (code === 0) {
  const title = "The demo: a server and a client hold a conversation with a command and a patch"
  const shown = [{ atMs: 0, text: "$ npm run demo" }, { atMs: 0, text: "" }, ...lines]
  writeFileSync(join(root, "packages/docs/demo.svg"), demoSvg(shown, title))
} else {
  process.stderr.write(`demo: exited with code ${code}; expected 0\n`)
  process.exitCode = 1
}
