/**
 * A provider in its own process, as users have it: plain `node:http` on a free port of the loopback address, which it
 * prints. A request whose text contains `speak` gets many deltas, every other one a short answer; each reply is one
 * write. On the standard output one line per request says when it had come and when it was answered, on the clock
 * that all processes share, if `COLLOQUY_BENCH_MARKS` is set.
 */
import { createServer } from "node:http"

const bodyOf = (delta: string, times: number): Buffer => {
  const content = [{ type: "output_text", text: delta.repeat(times) }]
  const usage = {
    input_tokens: 11,
    input_tokens_details: { cached_tokens: 3 },
    output_tokens: 7,
    output_tokens_details: { reasoning_tokens: 2 },
    total_tokens: 18,
  }
  const events = [
    { type: "response.created", response: { id: "response" } },
    ...Array.from({ length: times }, () => ({ type: "response.output_text.delta", delta })),
    {
      type: "response.output_item.done",
      item: { type: "message", role: "assistant", id: "message", content },
    },
    { type: "response.completed", response: { id: "response", usage } },
  ]
  return Buffer.from(
    events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(""),
  )
}

const short = bodyOf("done", 1)
const long = bodyOf("word ", Number(process.argv[2]))
const isMarking = process.env["COLLOQUY_BENCH_MARKS"] !== undefined

const server = createServer((request, response) => {
  const chunks: Array<Buffer> = []
  request.on("data", (chunk: Buffer) => chunks.push(chunk))
  request.on("end", () => {
    const atNs = process.hrtime.bigint()
    const body = Buffer.concat(chunks).includes('"speak"') ? long : short
    response.writeHead(200, { "content-type": "text/event-stream" })
    // Before the answer: the program may have recorded it before this process goes on.
    if (isMarking) process.stdout.write(`${atNs} ${process.hrtime.bigint()}\n`)
    response.end(body)
  })
})
server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  if (typeof address === "object") process.stdout.write(`${address?.port}\n`)
})
process.stdin.resume().once("end", () => process.exit(0))
