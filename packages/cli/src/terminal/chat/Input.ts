/** What a chat reacts to, in one queue. Types only. */
import type { Delivery } from "@colloquy/core/listeners/Delivery"
import type { Key } from "./LineEditor.ts"

/** See the header. */
export type Input =
  | { readonly _tag: "Keys"; readonly keys: ReadonlyArray<Key> }
  /** Of the conversation with this id, which may be another one by now. */
  | {
      readonly _tag: "Delivered"
      readonly of: string
      readonly deliveries: ReadonlyArray<Delivery>
    }
  /** The terminal has another size. */
  | { readonly _tag: "Resized" }
  /** A second has passed. */
  | { readonly _tag: "Tick" }
  /** One line for the person: a warning, or why a conversation has ended. */
  | { readonly _tag: "Notice"; readonly line: string }
  /** A signal ends the chat with this code. */
  | { readonly _tag: "Stop"; readonly code: number }
