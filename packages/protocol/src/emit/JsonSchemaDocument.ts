/** A contract as one JSON Schema document (draft 2020-12) with its named types and all methods. Pure. */
import type { JsonSchema } from "../JsonSchema.ts"
import type { Contract, ContractMethod } from "./Contract.ts"

const methodSchema = ({ info, params, result }: ContractMethod): JsonSchema => ({
  kind: info.kind,
  description: info.doc,
  since: info.since,
  ...(info.until === undefined ? {} : { until: info.until }),
  ...(info.capability === undefined ? {} : { capability: info.capability }),
  ...(info.experimental === undefined ? {} : { experimental: info.experimental }),
  ...(params === undefined ? {} : { params }),
  ...(result === undefined ? {} : { result }),
})

const side = ({ methods }: Contract, sender: ContractMethod["sender"]): JsonSchema =>
  Object.fromEntries(
    methods
      .filter((method) => method.sender === sender)
      .map((method) => [method.name, methodSchema(method)]),
  )

/**
 * The document. The methods are in `clientToServer` and `serverToClient`, which are no keywords of JSON Schema: a validator
 * ignores them.
 */
export const jsonSchemaDocumentOf = (contract: Contract): JsonSchema => ({
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: contract.dialect,
  clientToServer: side(contract, "client"),
  serverToClient: side(contract, "server"),
  $defs: contract.definitions,
})
