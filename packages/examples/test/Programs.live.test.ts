/** Every example runs as somebody starts it who has just copied its folder: offline, in an empty directory. */
import { type ChildProcess, spawn } from "node:child_process"
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "vitest"

const folder = mkdtempSync(join(tmpdir(), "colloquy-examples-"))
const running: Array<ChildProcess> = []
afterAll(() => {
  for (const child of running) child.kill("SIGKILL")
  rmSync(folder, { recursive: true, maxRetries: 10, force: true })
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

/** What the example prints until it exits, where somebody answers its first prompt. */
const answering = (name: string, prompt: string, answer: string) =>
  new Promise<string>((resolve) => {
    const child = start(name)
    let text = ""
    child.stdout.setEncoding("utf8").on("data", (piece: string) => {
      const asked = text.includes(prompt)
      text += piece
      if (!asked && text.includes(prompt)) child.stdin.write(answer)
    })
    child.once("close", () => resolve(text))
  })

/** What the example prints in a terminal until it exits, where somebody types each text after what comes before it. */
const typing = (name: string, steps: ReadonlyArray<readonly [after: string, typed: string]>) =>
  new Promise<string>((resolve) => {
    const { OPENAI_API_KEY: _, ...env } = process.env
    const program = join(import.meta.dirname, "..", name, "main.ts")
    const child = spawn("script", ["-qec", `"${process.execPath}" "${program}"`, "/dev/null"], {
      cwd: folder,
      env,
      stdio: ["pipe", "pipe", "inherit"],
    })
    running.push(child)
    const left = [...steps]
    let text = ""
    let read = 0
    child.stdout.setEncoding("utf8").on("data", (piece: string) => {
      text += piece
      for (let step = left[0]; step !== undefined; step = left[0]) {
        const place = text.indexOf(step[0], read)
        if (place === -1) return
        read = place + step[0].length
        left.shift()
        child.stdin.write(step[1])
      }
    })
    child.once("close", () => resolve(text))
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

/** One server-sent event. */
interface Sent {
  readonly id: string | undefined
  readonly type: string
}

const sentOf = (block: string): Sent => ({
  id: /^id: (.*)$/m.exec(block)?.[1],
  type: (JSON.parse(/^data: (.*)$/m.exec(block)?.[1] ?? "{}") as Sent).type,
})

const lastId = (events: ReadonlyArray<Sent>): string =>
  events.findLast(({ id }) => id !== undefined)?.id ?? ""

/** The events of a stream until one of this type, when the connection is cut. */
const eventsUntil = async (
  address: string,
  type: string,
  then: () => Promise<unknown> = () => Promise.resolve(),
  after?: string,
): Promise<ReadonlyArray<Sent>> => {
  const headers = after === undefined ? {} : { "last-event-id": after }
  const cut = new AbortController()
  const response = await fetch(address, { headers, signal: cut.signal })
  assert.include(response.headers.get("content-type") ?? "", "text/event-stream")
  await then()
  const events: Array<Sent> = []
  let text = ""
  for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const blocks = (text + piece).split("\n\n")
    text = blocks.pop() ?? ""
    events.push(...blocks.map(sentOf))
    const end = events.findIndex((event) => event.type === type)
    if (end === -1) continue
    cut.abort()
    return events.slice(0, end + 1)
  }
  throw new Error(`the stream has ended before ${type}: ${JSON.stringify(events)}`)
}

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

  it("terminal asks before a tool runs, one line for each question without a terminal", async () => {
    const input = 'call: remember {"note":"milk"}\ny\nsay bye\n'
    const text = await output("terminal", { input })
    assert.include(text, 'remember "milk" [y/n]? ')
    assert.include(text, "noted: milk")
    assert.include(text, "bye")
  })

  it.skipIf(!existsSync("/usr/bin/script"))(
    "terminal takes one key in a terminal; Ctrl-C ends a turn, and at the prompt the program",
    async () => {
      const text = await typing("terminal", [
        ["> ", 'call: remember {"note":"milk"}\r'],
        ["[y/n]? ", "y"],
        ["noted: milk", ""],
        ["> ", 'call: remember {"note":"tea"}\r'],
        ['"tea" [y/n]? ', "\u0003"],
        ["> ", "say bye\r"],
        ["\nbye", ""],
        ["> ", "\u0003"],
      ])
      assert.notInclude(text, "noted: tea")
    },
  )

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

  it("http answers two requests for one conversation one after the other", async () => {
    const address = await serving("http")
    const ask = async (message: string) => {
      const headers = { "content-type": "application/json" }
      const init = { method: "POST", headers, body: JSON.stringify({ message }) }
      return (await (await fetch(`${address}/chats/bob`, init)).json()) as Record<string, string>
    }
    const [first, second] = await Promise.all([ask("say one"), ask("say two")])
    assert.deepStrictEqual([first?.["answer"], second?.["answer"]], ["one", "two"])
    assert.strictEqual(first?.["conversation"], second?.["conversation"])
  })

  it("browser continues after a cut connection where it was, and shows a reload everything", async () => {
    const address = await serving("browser")
    assert.include(await (await fetch(address)).text(), "new EventSource(")
    const path = `${address}/chats/browser`
    const ask = (body: object) =>
      fetch(path, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      })
    const first = await eventsUntil(`${path}/events`, "agent_message_delta", () =>
      ask({ message: "say one" }),
    )
    const rest = await eventsUntil(`${path}/events`, "task_complete", undefined, lastId(first))
    const whole = await eventsUntil(`${path}/events`, "task_complete")
    const recorded = (events: ReadonlyArray<Sent>) => events.filter(({ id }) => id !== undefined)
    assert.deepStrictEqual([...recorded(first), ...recorded(rest)], recorded(whole))
    assert.strictEqual((await ask({ mesage: "hi" })).status, 400)
    assert.strictEqual((await ask({ message: "say two" })).status, 202)
  })

  it.each([
    ["refunds what a person approves", "y", true],
    ["does not refund what a person refuses", "n", false],
  ])("till %s", async (_, key, isRefunded) => {
    const text = await answering("till", "[y/n]? ", `${key}\n`)
    assert.include(text, 'refund {"order":"A1","cents":2500} [y/n]?')
    assert.strictEqual(text.includes("refunded 2500 cents of A1"), isRefunded)
    assert.include(text, "That is settled.")
  })
})
