/**
 * What a server may ask of its client beside a question to a person: an answer of the client's model, and its roots. Both are
 * passed through as they are: the two ends read them, the wire does not.
 */
import * as Schema from "effect/Schema"
import { request } from "../Method.ts"

const Open = Schema.Record(Schema.String, Schema.Unknown)

export const CreateMessage = request("sampling/createMessage", {
  params: Open,
  result: Open,
  since: "2024-11-05",
  capability: "sampling",
  doc: "Asks the client's model for a message.",
})

export const RootsList = request("roots/list", {
  params: Schema.Struct({ _meta: Schema.optionalKey(Open) }),
  result: Open,
  since: "2024-11-05",
  capability: "roots",
  doc: "Asks for the directories that the client works in.",
})
