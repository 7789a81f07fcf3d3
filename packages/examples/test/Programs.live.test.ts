/** Every example runs as somebody starts it who has just copied its folder: offline, in an empty directory. */
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "vitest"

const folder = mkdtempSync(join(tmpdir(), "colloquy-examples-"))
const running: Array<ChildProcess> = []
afterAll(() => {
  for (const child of running) child.kill("SIGKILL")
  rmSync(folder, { recursive: true, force: true })
})

const start = (name: string, args: ReadonlyArray<string> = []) => {
  const { OPENAI_API_KEY: _, ...env } = process.env
  const program = join(import.meta.dirname, "..", name, "main.ts")
  const child = spawn(process.execPath, [program, ...args], {
    cwd: folder,
    env: { ...env, PORT: "0" },
    stdio: ["pipe", "pipe", "inherit"],
  })
  running.push(child)
  return child
}

/** What the example prints until it exits. */
const output = (
  name: string,
  { args, input = "" }: { args?: Array<string>; input?: string } = {},
) =>
  new Promise<string>((resolve) => {
    const child = start(name, args)
    let text = ""
    child.stdout.setEncoding("utf8").on("data", (piece: string) => (text += piece))
    child.once("close", () => resolve(text))
    child.stdin.end(input)
  })

/** The address of a server, which it prints once it listens. */
const serving = (name: string) =>
  new Promise<string>((resolve, reject) => {
    const child = start(name)
    let text = ""
    child.stdout.setEncoding("utf8").on("data", (piece: string) => {
      text += piece
      const address = /Listening on (http:\S+)/.exec(text)?.[1]
      if (address !== undefined) resolve(address)
    })
    child.once("exit", () => reject(new Error(`${name} exited: ${text}`)))
  })

const lines = (...messages: ReadonlyArray<object>): string =>
  messages.map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`).join("")

describe("the examples", () => {
  it("hello streams an answer", async () => {
    assert.strictEqual(await output("hello"), "Hello! What shall we build?")
  })

  it("review prints a verdict for each file", async () => {
    assert.match(await output("review"), /^approve {2}.*main\.ts: reads well$/m)
  })

  it("store resumes the conversation of the last run", async () => {
    const args = ["Hello?", "chats.sqlite"]
    assert.match(await output("store", { args }), /^Welcome\.$/m)
    assert.match(await output("store", { args }), /^Where were we\?$/m)
  })

  it("terminal answers a line and ends with its input", async () => {
    assert.include(await output("terminal", { input: "say hello\n" }), "hello")
  })

  it("mcp offers one tool under its own name", async () => {
    const clientInfo = { name: "test", version: "1" }
    const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo }
    const input = lines({ id: 1, method: "initialize", params }, { id: 2, method: "tools/list" })
    const [initialized, listed] = (await output("mcp", { input })).trim().split("\n")
    assert.include(initialized, '"serverInfo":{"name":"clock","title":"clock","version":"1.0.0"}')
    assert.match(listed ?? "", /"tools":\[\{"name":"clock"/)
  })

  it("dialect answers in its own methods", async () => {
    const params = { name: "ann", message: "say hello" }
    const text = await output("dialect", { input: lines({ id: 1, method: "chat/ask", params }) })
    assert.include(text, '"method":"chat/delta"')
    assert.include(text, '"id":1,"result":{"answer":"hello"}')
  })

  it("http answers in the conversation of the path", async () => {
    const address = await serving("http")
    const ask = async (body: object) => {
      const headers = { "content-type": "application/json" }
      const init = { method: "POST", headers, body: JSON.stringify(body) }
      const response = await fetch(`${address}/chats/ann`, init)
      return { status: response.status, text: await response.text() }
    }
    const answered = await ask({ message: "say hello" })
    assert.strictEqual(answered.status, 200)
    assert.include(answered.text, '"answer":"hello"')
    assert.strictEqual((await ask({ mesage: "hi" })).status, 400)
  })

  it("browser serves its page, and the events of a turn", async () => {
    const address = await serving("browser")
    const page = await fetch(address)
    assert.include(await page.text(), "new EventSource(")
    const events = await fetch(`${address}/ask?message=say%20hello`)
    assert.include(events.headers.get("content-type") ?? "", "text/event-stream")
    assert.match(await events.text(), /event: agent_message_delta\n[^]*event: end\ndata: \{\}\n\n$/)
  })
})
