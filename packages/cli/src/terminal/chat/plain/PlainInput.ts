/** What a chat without a terminal of its own reacts to. Types only. */
import type { Delivered } from "../Deliver.ts"

/** See the header. */
export type PlainInput =
  | Delivered
  /** One line of stdin. */
  | { readonly _tag: "Line"; readonly text: string }
  /** A line of stdin has more than `maxLength` UTF-16 code units. */
  | { readonly _tag: "TooLong"; readonly maxLength: number }
  /** The end of stdin. */
  | { readonly _tag: "End" }
  /** Ctrl-C. */
  | { readonly _tag: "Interrupt" }
  /** A signal ends the chat with this code. */
  | { readonly _tag: "Stop"; readonly code: number }
