/** What is wrong with a value, for people: a path and a sentence per fault, never the value itself. */
import type * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"

export interface Fault {
  /** Member names and indexes from the root of the value. */
  readonly path: ReadonlyArray<string | number>
  readonly message: string
}

const format = SchemaIssue.makeFormatterStandardSchemaV1()

export const faultsOf = (error: Schema.SchemaError): ReadonlyArray<Fault> =>
  format(error.issue).issues.map(({ path, message }) => ({
    path: (path ?? []).map((segment) => {
      const key = typeof segment === "object" ? segment.key : segment
      return typeof key === "symbol" ? key.toString() : key
    }),
    message,
  }))

/** One line: `params.clientInfo.name: Missing key; params.protocolVersion: Expected string`. */
export const describeFaults = (root: string, faults: ReadonlyArray<Fault>): string =>
  faults.map(({ path, message }) => `${[root, ...path].join(".")}: ${message}`).join("; ")
