/** The setting of every figure of the store: a separate directory, and logs like those of real work. */
import { ConversationStore, type ConversationMeta } from "@colloquy/core/ConversationStore"
import { eventRecord, type LogRecord } from "@colloquy/core/LogRecord"
import type { EventMsg } from "@colloquy/protocol/EventMsg"
import { ConversationId, uuidV7 } from "@colloquy/protocol/Ids"
import * as NodeStore from "@colloquy/store/node/NodeStore"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const startMs = Date.UTC(2026, 0, 1)

/** Metadata of the conversation with this number. */
export const metaOf = (number: number): ConversationMeta => {
  // One every ten minutes: ten thousand conversations are in about seventy folders.
  const createdAtMs = startMs + number * 600_000
  return {
    id: ConversationId.make(uuidV7(createdAtMs, [1, 2, 3, number])),
    createdAtMs,
    cwd: `/home/someone/projects/${number % 20}`,
    originator: "bench",
    version: "0",
    provider: "bench",
    model: "bench",
  }
}

const text =
  "Some words of a model that says what it has found in the files it was asked to look at. "

const messages: ReadonlyArray<EventMsg> = [
  { type: "task_started", model_context_window: null },
  { type: "user_message", message: text, kind: "plain" },
  {
    type: "raw_response_item",
    item: { type: "message", role: "assistant", content: [{ type: "output_text", text }] },
  },
  { type: "agent_message", message: text },
  {
    type: "exec_command_begin",
    call_id: "call_0123456789abcdef",
    command: ["bash", "-lc", "cat src/main.ts"],
    cwd: "/home/someone/projects/something",
  },
  {
    type: "exec_command_end",
    call_id: "call_0123456789abcdef",
    stdout: text.repeat(3),
    stderr: "",
    aggregated_output: text.repeat(3),
    exit_code: 0,
    duration: { secs: 0, nanos: 12_000_000 },
    formatted_output: text.repeat(3),
  },
  {
    type: "raw_response_item",
    item: {
      type: "function_call_output",
      call_id: "call_0123456789abcdef",
      output: text.repeat(3),
    },
  },
  { type: "task_complete", last_agent_message: text },
]

/** `count` events from number `from` on. */
export const batch = (from: number, count: number): ReadonlyArray<LogRecord> =>
  Array.from({ length: count }, (_, i) => {
    const seq = from + i
    const turn = String(Math.floor(seq / messages.length))
    const msg = messages[seq % messages.length]
    return eventRecord(startMs + seq, {
      seq,
      id: turn,
      msg: msg ?? { type: "warning", message: "" },
    })
  })

/** A state directory that the scope removes. */
export const home = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "colloquy-bench-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true })),
)

/** Runs with a new store over the directory. */
export const withStore = <A, E>(
  path: string,
  use: (store: ConversationStore["Service"]) => Effect.Effect<A, E, Scope.Scope>,
): Effect.Effect<A> =>
  Effect.flatMap(ConversationStore, use).pipe(
    Effect.scoped,
    Effect.provide(NodeStore.layer({ home: path })),
    Effect.orDie,
  )

/** Removes the index, as a crash may. */
export const forget = (path: string): Effect.Effect<void> =>
  Effect.sync(() => {
    for (const ending of ["", "-wal", "-shm"]) {
      rmSync(join(path, `colloquy-store/index.sqlite${ending}`), { force: true })
    }
  })
