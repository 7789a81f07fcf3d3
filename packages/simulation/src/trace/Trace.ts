/** What happened in a run, in order: calls and their answers, the deliveries each listener took, the actions of model and tools. */
import type { Delivery } from "@colloquy/core/listeners/Delivery"
import type { Event } from "@colloquy/protocol/EventMsg"
import type { NodeAction } from "../nodes/NodePlan.ts"
import type { Answering, ForkRule, Operation, Reading } from "../scenario/Plan.ts"

/** The result of an operation. `died` is a defect: no operation may have one. */
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
  /** The store was called; `how` is the fault that was injected, if any. */
  | {
      readonly at: "store"
      readonly operation: string
      readonly how?: string
    }
  /** A batch was appended, unless `how` names the fault that prevented it. `stale`: the writer had lost its lease. */
  | {
      readonly at: "append"
      readonly conversation: string
      readonly generation: number
      readonly how?: string
    }
  /** Whether the conversation could be read at the end of the run. */
  | { readonly at: "read"; readonly conversation: string; readonly answer: Answer }
  /** `seq` is the number after the last event that the new conversation started with. */
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
  /** A listener answered a question; `answer` is the result of that submission. */
  | {
      readonly at: "replied"
      readonly listener: string
      readonly conversation: string
      readonly question: string
      readonly decision: string
      readonly answer: Answer
    }
  /** A tool received the verdict on its question. */
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
  /** The conversation ended the listener; `because`: its conversation can no longer be recorded. */
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
  /** A client of a wire run sent (`out`) or received (`in`) a frame. */
  | {
      readonly at: "wire"
      readonly connection: number
      readonly way: "out" | "in"
      readonly text: string
    }
  /** A client ended its connection (`closes`, `drops`), or the server of the connection ended. */
  | {
      readonly at: "wireEnd"
      readonly connection: number
      readonly how: "closes" | "drops" | "over" | "stopped" | "died"
    }
  /** A conversation requested the model with the text of the call that created it. */
  | { readonly at: "prompted"; readonly conversation: string; readonly text: string }
  /** A tool of the embedder works for the call with that text. `once`: it did the action that it may do only once. */
  | {
      readonly at: "ran"
      readonly tool: string
      readonly text: string
      readonly does: "begins" | "once" | "ends"
    }
  /** The embedder changed its tools or its resource. */
  | { readonly at: "changed"; readonly what: "tools" | "resource" }
  /** A fault of a node or of the database began or ended. */
  | { readonly at: "node"; readonly node: string; readonly does: string }
  /** A client of several nodes began an action. */
  | {
      readonly at: "nodeCall"
      readonly client: string
      readonly call: number
      readonly conversation: string | undefined
      readonly action: NodeAction
    }
  /** The end of that action; `tries`: how often it was sent. */
  | {
      readonly at: "nodeAnswer"
      readonly call: number
      readonly conversation: string | undefined
      readonly tries: number
      readonly answer: Answer
    }
  /** A second caller began to run the message of that call, with the same id, through another node. */
  | { readonly at: "turnRun"; readonly call: number; readonly conversation: string }
  /** The end of that run: its value has the receipt, and the number and type of the terminal event of the turn. */
  | {
      readonly at: "turnRan"
      readonly call: number
      readonly conversation: string
      readonly tries: number
      readonly answer: Answer
    }
  /** A follower attached through a node, from a number on. */
  | {
      readonly at: "following"
      readonly follower: string
      readonly conversation: string
      readonly node: string
      readonly from: number
    }
  /** The durable events that a follower took. */
  | { readonly at: "got"; readonly follower: string; readonly events: ReadonlyArray<Event> }
  /** A follower lost its attachment; `answer` is the reason. */
  | { readonly at: "unfollowed"; readonly follower: string; readonly answer: Answer }
  /** The database committed a batch: the log has so many events now. `how`: what its writer had no right to do. */
  | {
      readonly at: "wrote"
      readonly conversation: string
      readonly process: string
      readonly generation: number
      readonly events: number
      readonly how?: string
    }
  /** What the store has of a conversation when the clients have finished. */
  | {
      readonly at: "stored"
      readonly conversation: string
      readonly archived: boolean
      readonly name?: string
    }
  /** A log as the store reads it, or the reason why it cannot. */
  | {
      readonly at: "log"
      readonly conversation: string
      readonly events: number
      readonly fault?: string
    }
  | { readonly at: "rest" }
  | { readonly at: "closing" }
  | { readonly at: "closed" }

/** One entry; `ms` is the virtual time since the start. */
export type Entry = { readonly ms: number } & Happening

/** One kind of entry. */
export type EntryOf<T extends Entry["at"]> = Extract<Entry, { readonly at: T }>

/** The trace as JSON lines. Equal runs give equal texts, byte for byte. */
export const traceText = (trace: ReadonlyArray<Entry>): string =>
  trace.map((entry) => `${JSON.stringify(entry)}\n`).join("")
