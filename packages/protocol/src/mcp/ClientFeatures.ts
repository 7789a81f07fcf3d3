/**
 * Requests of a server to its client besides questions to a person: a message of the client's model, and the client's roots.
 * Both are passed through without decoding their contents.
 */
import * as Schema from "effect/Schema"
import { request } from "../Method.ts"

const Open = Schema.Record(Schema.String, Schema.Unknown)

/** Asks the client's model for a message. */
export const CreateMessage = request("sampling/createMessage", {
  params: Open,
  result: Open,
  since: "2024-11-05",
  capability: "sampling",
  doc: "Asks the client's model for a message.",
})

/** Asks for the client's directories. */
export const RootsList = request("roots/list", {
  params: Schema.Struct({ _meta: Schema.optionalKey(Open) }),
  result: Open,
  since: "2024-11-05",
  capability: "roots",
  doc: "Asks for the directories that the client works in.",
})
