/**
 * A process that writes one conversation until it is killed: `node Writer.ts <home> <id>
 * <create|open> <bytes per line>`. Prints one line per event on stdout: `held <pid>`, `opened
 * <generation> <repairs>`, `synced <seq>`.
 */
import { ConversationStore } from "@colloquy/core/ConversationStore"
import { eventRecord } from "@colloquy/core/LogRecord"
import { ConversationId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import * as NodeStore from "../../src/node/NodeStore.ts"

const [home = "", id = "", how = "open", bytes = "100"] = process.argv.slice(2)
const conversation = ConversationId.make(id)

const say = (line: string) => Effect.sync(() => process.stdout.write(`${line}\n`))

const text = "x".repeat(Number(bytes))

const begin = Effect.gen(function* () {
  const store = yield* ConversationStore
  if (how === "create") {
    const meta = {
      id: conversation,
      createdAtMs: Date.now(),
      cwd: "/w",
      originator: "writer",
      version: "0",
    }
    const first = { type: "warning", message: "begin" } as const
    const writer = yield* store.create(meta, [
      eventRecord(Date.now(), { seq: 0, id: "", msg: first }),
    ])
    return { writer, seq: 1, repairs: [] }
  }
  const { repairs, writer } = yield* store.open({ id: conversation })
  let seq = 0
  for (let from: number | undefined = 0; from !== undefined;) {
    const page: { records: ReadonlyArray<{ _tag: string }>; next?: number } = yield* store.read(
      conversation,
      { from, max: 100 },
    )
    seq += page.records.filter(({ _tag }) => _tag === "Event").length
    from = page.next
  }
  return { writer, seq, repairs }
})

const main = Effect.gen(function* () {
  const { repairs, seq: first, writer } = yield* begin
  yield* say(`opened ${writer.generation} ${repairs.map(({ kind }) => kind).join()}`)
  for (let seq = first; ; seq++) {
    const msg = { type: "agent_message", message: `${seq} ${text}` } as const
    const isSynced = seq % 5 === 0
    yield* writer.append(
      [eventRecord(Date.now(), { seq, id: "0", msg })],
      isSynced ? "synced" : "written",
    )
    if (isSynced) yield* say(`synced ${seq}`)
  }
}).pipe(
  Effect.scoped,
  Effect.catchTag("LeaseHeld", ({ holder }) => say(`held ${holder.pid}`)),
  Effect.provide(NodeStore.layer({ home })),
)

await Effect.runPromise(main)
