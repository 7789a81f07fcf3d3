/** What a chat reacts to, in one queue. Types only. */
import type { Delivered } from "./Deliver.ts"
import type { Key } from "./line/Editor.ts"

/** See the header. */
export type Input =
  | Delivered
  | { readonly _tag: "Keys"; readonly keys: ReadonlyArray<Key> }
  /** The terminal has another size. */
  | { readonly _tag: "Resized" }
  /** The process was stopped and goes on: another program may have written to the screen. */
  | { readonly _tag: "Continued" }
  /** A second has passed. */
  | { readonly _tag: "Tick" }
  /** One line for the person: of the log. */
  | { readonly _tag: "Notice"; readonly line: string }
  /** A signal ends the chat with this code. */
  | { readonly _tag: "Stop"; readonly code: number }
