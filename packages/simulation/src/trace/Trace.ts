/** What happened in a run, in order: calls and their answers, what each listener took, what model and tools did. */
import type { Delivery } from "@colloquy/core/listeners/Delivery"
import type { Answering, ForkRule, Operation, Reading } from "../scenario/Plan.ts"

/** How an operation came back. `died` is a defect: no operation may have one. */
export type Answer =
  | { readonly is: "ok"; readonly value: unknown }
  | { readonly is: "error"; readonly tag: string; readonly reason?: string }
  | { readonly is: "interrupted" }
  | { readonly is: "died"; readonly message: string }

type Happening =
  | {
      readonly at: "call"
      readonly client: string
      readonly call: number
      readonly conversation: string | undefined
      readonly operation: Operation
    }
  | { readonly at: "answer"; readonly call: number; readonly answer: Answer }
  | { readonly at: "made"; readonly conversation: string }
  /** The store was called; `how` it went wrong, if it did. */
  | {
      readonly at: "store"
      readonly operation: string
      readonly how?: string
    }
  /** A batch was appended, or `how` it was not. `stale`: by a writer that had lost its lease. */
  | {
      readonly at: "append"
      readonly conversation: string
      readonly generation: number
      readonly how?: string
    }
  /** When all was done, whether the conversation could be read. */
  | { readonly at: "read"; readonly conversation: string; readonly answer: Answer }
  /** `seq` is the number after the last event that the new conversation began with. */
  | {
      readonly at: "forked"
      readonly call: number
      readonly conversation: string
      readonly parent: string
      readonly rule: ForkRule
      readonly seq: number
    }
  /** `before` is the number after the last event of the log, before the attach. */
  | {
      readonly at: "listening"
      readonly listener: string
      readonly conversation: string
      readonly from: number | undefined
      readonly before: number
      readonly maxEvents: number
      readonly reading: Reading
      readonly answering?: Answering
    }
  /** A listener answered a question, and what came of it. */
  | {
      readonly at: "replied"
      readonly listener: string
      readonly conversation: string
      readonly question: string
      readonly decision: string
      readonly answer: Answer
    }
  /** A tool was told what became of its question. */
  | {
      readonly at: "verdict"
      readonly conversation: string
      readonly question: string
      readonly decision: string
      readonly reason: string
    }
  | {
      readonly at: "took"
      readonly listener: string
      readonly deliveries: ReadonlyArray<Delivery>
    }
  /** `because`: nothing of its conversation could be recorded any more. */
  | { readonly at: "ended"; readonly listener: string; readonly because?: string }
  | { readonly at: "left"; readonly listener: string }
  | {
      readonly at: "model"
      readonly conversation: string
      readonly request: number
      readonly does: "begins" | "ends"
    }
  /** The model finished a message or a summary with this text. */
  | { readonly at: "says"; readonly conversation: string; readonly text: string }
  | {
      readonly at: "tool"
      readonly conversation: string
      readonly turn: string
      readonly call: string
      readonly does: "begins" | "ends"
    }
  /** What a client of a wire run said, or heard. */
  | {
      readonly at: "wire"
      readonly connection: number
      readonly way: "out" | "in"
      readonly text: string
    }
  /** A client ended so, or the server it spoke with did. */
  | {
      readonly at: "wireEnd"
      readonly connection: number
      readonly how: "closes" | "drops" | "over" | "stopped" | "died"
    }
  /** A conversation went to the model with the text of the call that made it. */
  | { readonly at: "prompted"; readonly conversation: string; readonly text: string }
  /** An embedder's tool works for the call with that text. `once`: did what it may do but once. */
  | {
      readonly at: "ran"
      readonly tool: string
      readonly text: string
      readonly does: "begins" | "once" | "ends"
    }
  /** The embedder changed what it offers. */
  | { readonly at: "changed"; readonly what: "tools" | "resource" }
  | { readonly at: "rest" }
  | { readonly at: "closing" }
  | { readonly at: "closed" }

/** `ms`: virtual time since the start. */
export type Entry = { readonly ms: number } & Happening

/** One kind of entry. */
export type EntryOf<T extends Entry["at"]> = Extract<Entry, { readonly at: T }>

/** The same run gives the same text, byte for byte. */
export const traceText = (trace: ReadonlyArray<Entry>): string =>
  trace.map((entry) => `${JSON.stringify(entry)}\n`).join("")
