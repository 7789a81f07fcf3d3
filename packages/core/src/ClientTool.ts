/**
 * Tools of the clients of a conversation: the model calls them like any other, and a client that listens runs them. They are a
 * setting of the conversation (`clientTools`), so that they survive a restart and a fork. Data and names only; a turn offers
 * and calls them (`turn/ClientTools.ts`).
 */
import * as Schema from "effect/Schema"

/** A tool of the clients. */
export const ClientTool = Schema.Struct({
  /** Name by which the model calls it, behind the namespace if there is one. */
  name: Schema.String,
  /** What it does, for the model. */
  description: Schema.String,
  /** JSON Schema of an object: what a client gets as arguments matches it. */
  inputSchema: Schema.Record(Schema.String, Schema.Unknown),
  /** Tools of different namespaces may have the same name. */
  namespace: Schema.optionalKey(Schema.String),
})
/** A decoded `ClientTool`. */
export type ClientTool = typeof ClientTool.Type

/** The name by which the model calls the tool. */
export const offeredName = ({ name, namespace }: Pick<ClientTool, "name" | "namespace">): string =>
  namespace === undefined ? name : `${namespace}__${name}`

/** A definition of a tool cannot be used. Nothing was created. */
export class BadClientTool extends Schema.TaggedError<BadClientTool>()("BadClientTool", {
  /** Place of the definition, counted from 0. */
  index: Schema.Int,
  /** The member at fault. */
  field: Schema.Literals(["name", "namespace", "description", "inputSchema"]),
  /** What is wrong with it and what was expected. */
  problem: Schema.String,
}) {
  override get message() {
    return `clientTools[${this.index}].${this.field}: ${this.problem}`
  }
}
