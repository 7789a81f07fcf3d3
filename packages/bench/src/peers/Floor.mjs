/**
 * The least that a turn can cost on this runtime: plain Node without checks, errors or limits, which reads the same
 * requests, writes and syncs as much, sends a request of the same size and notifies of the same events.
 */
// An import by name reads every member of a module, and those of `node:http` load all of `fetch`.
const { closeSync, fdatasync, fsync, mkdirSync, openSync, readFileSync, writeSync } =
  process.getBuiltinModule("node:fs")
const { Agent, request } = process.getBuiltinModule("node:http")
const { join } = process.getBuiltinModule("node:path")
const { createInterface } = process.getBuiltinModule("node:readline")

const home = process.env["CODEX_HOME"] ?? "."
const [, base] = /base_url = "(.*)"/.exec(readFileSync(join(home, "config.toml"), "utf8")) ?? []
const agent = new Agent({ keepAlive: true })
const conversations = new Map()
/** As long as the real ones. */
const instructions = "i".repeat(1800)
const tools = [1000, 850, 300].map((length, index) => ({
  type: "function",
  name: `tool${index}`,
  description: "d".repeat(length),
}))

const send = (message) => process.stdout.write(`${JSON.stringify(message)}\n`)

const synced = (sync, fd) =>
  new Promise((resolve, reject) =>
    sync(fd, (error) => (error === null ? resolve() : reject(error))),
  )

const record = (conversation, payloads) => {
  const timestamp = new Date().toISOString()
  const lines = payloads.map((payload) => JSON.stringify({ timestamp, type: "event", payload }))
  writeSync(conversation.fd, `${lines.join("\n")}\n`)
  return synced(fdatasync, conversation.fd)
}

const ask = (body, onEvent) =>
  new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", accept: "text/event-stream" }
    const asked = request(`${base}/responses`, { method: "POST", agent, headers }, (response) => {
      let open = ""
      response.setEncoding("utf8")
      response.on("data", (chunk) => {
        const lines = (open + chunk).split("\n")
        open = lines.pop()
        for (const line of lines) if (line.startsWith("data: ")) onEvent(JSON.parse(line.slice(6)))
      })
      response.on("end", resolve)
    })
    asked.on("error", reject)
    asked.end(body)
  })

const create = async () => {
  const id = `01900000-0000-7000-8000-${String(conversations.size).padStart(12, "0")}`
  const directory = join(home, "sessions")
  mkdirSync(directory, { recursive: true })
  const conversation = { id, fd: openSync(join(directory, `${id}.jsonl`), "wx"), history: [] }
  conversations.set(id, conversation)
  await record(conversation, [{ id, settings: "s".repeat(1500) }])
  const opened = openSync(directory, "r")
  await synced(fsync, opened)
  closeSync(opened)
  return conversation
}

const call = async ({ id, params }) => {
  const isNew = params.name === "codex"
  const conversation = isNew ? await create() : conversations.get(params.arguments.threadId)
  const _meta = { requestId: id, threadId: conversation.id }
  const notify = (msg) =>
    send({ jsonrpc: "2.0", method: "codex/event", params: { _meta, id: "1", msg } })
  if (isNew) notify({ type: "session_configured", session_id: conversation.id, model: "bench" })
  const { prompt } = params.arguments
  const input = { type: "message", role: "user", content: [{ type: "input_text", text: prompt }] }
  conversation.history.push(input)
  await record(conversation, [{ id }, { type: "task_started" }, input, { message: prompt }])
  notify({ type: "task_started", model_context_window: null })
  let answer = ""
  let usage
  await ask(
    JSON.stringify({
      model: "bench",
      instructions,
      input: conversation.history,
      tools,
      stream: true,
      store: false,
      prompt_cache_key: conversation.id,
    }),
    (event) => {
      if (event.type === "response.output_text.delta") {
        notify({ type: "agent_message_delta", delta: event.delta })
      } else if (event.type === "response.output_item.done") {
        conversation.history.push(event.item)
        answer = event.item.content[0].text
      } else if (event.type === "response.completed") usage = event.response.usage
    },
  )
  const last = { type: "task_complete", last_agent_message: answer }
  const counted = { type: "token_count", info: { total_token_usage: usage } }
  await record(conversation, [conversation.history.at(-1), { message: answer }, counted, last])
  for (const msg of [{ type: "agent_message", message: answer }, counted, last]) notify(msg)
  const structuredContent = { threadId: conversation.id, content: answer }
  send({
    jsonrpc: "2.0",
    id,
    result: { content: [{ type: "text", text: answer }], structuredContent },
  })
}

const schema = { type: "object", properties: { threadId: {}, prompt: {} } }

createInterface({ input: process.stdin })
  .on("line", (line) => {
    const message = JSON.parse(line)
    const { id, method } = message
    if (method === "initialize") {
      const { protocolVersion } = message.params
      const serverInfo = { name: "floor", version: "plain Node" }
      send({ jsonrpc: "2.0", id, result: { protocolVersion, capabilities: {}, serverInfo } })
    } else if (method === "tools/list") {
      send({
        jsonrpc: "2.0",
        id,
        result: { tools: [{ name: "codex-reply", inputSchema: schema }] },
      })
    } else if (method === "tools/call") void call(message)
  })
  .once("close", () => process.exit(0))
