/**
 * The contract of a dialect as plain data: every method with the JSON Schemas of its params and result, and the named types
 * that they share. Derived from the definitions only. The other modules of this folder print it.
 */
import type * as Rpc from "effect/rpc/Rpc"
import * as Schema from "effect/Schema"
import type { JsonSchema } from "../JsonSchema.ts"
import { type Dialect, infoOf, type Method, type MethodInfo, methodsOf } from "../Method.ts"
import { isVoid } from "../MethodCodec.ts"

/** One method of a contract. */
export interface ContractMethod {
  /** Its name on the wire. */
  readonly name: string
  readonly sender: "client" | "server"
  readonly info: MethodInfo
  /** Absent when params are ignored. */
  readonly params?: JsonSchema
  /** Absent for notifications, and for requests with an empty result. */
  readonly result?: JsonSchema
}

/** The contract of a dialect. */
export interface Contract {
  readonly dialect: string
  /** The methods of the client first, in the order of the dialect. */
  readonly methods: ReadonlyArray<ContractMethod>
  /** The types that `#/$defs/<name>` refers to, by name, in the order of first use. */
  readonly definitions: Readonly<Record<string, JsonSchema>>
}

/** A type without its description, which belongs to the member that uses it. */
const undescribed = ({ description: _, ...type }: JsonSchema): JsonSchema => type

const same = (a: JsonSchema, b: JsonSchema): boolean => JSON.stringify(a) === JSON.stringify(b)

/** Collects the named types of several schemas; a name must always have the same type. */
class Definitions {
  readonly all: Record<string, JsonSchema> = {}

  private add(name: string, definition: JsonSchema): void {
    const known = this.all[name]
    if (known === undefined) this.all[name] = definition
    else if (!same(known, definition)) {
      this.all[name] = undescribed(known)
      if (!same(undescribed(known), undescribed(definition))) {
        throw new Error(`two types are named ${name}`)
      }
    }
  }

  /** Adds the named types of a schema and gives its JSON Schema. Throws when a name has two types: a faulty definition. */
  take(schema: Schema.Top): JsonSchema {
    const document = Schema.toJsonSchemaDocument(schema)
    for (const [name, definition] of Object.entries(document.definitions)) {
      this.add(name, definition)
    }
    return document.schema
  }
}

/** Makes the contract of a dialect. `named` are types that belong to it although no method uses them directly. */
export const contractOf = <C extends Rpc.Any, S extends Rpc.Any>(
  dialect: Dialect<C, S>,
  named: Readonly<Record<string, Schema.Top>> = {},
): Contract => {
  const definitions = new Definitions()
  const describe = (method: Method, sender: ContractMethod["sender"]): ContractMethod => {
    const info = infoOf(method)
    const { payloadSchema: params, successSchema: result } = method
    return {
      name: method._tag,
      sender,
      info,
      ...(isVoid(params) ? {} : { params: definitions.take(params) }),
      ...(info.kind === "notification" || isVoid(result)
        ? {}
        : { result: definitions.take(result) }),
    }
  }
  const side = (methods: ReadonlyMap<string, Method>, sender: ContractMethod["sender"]) =>
    [...methods.values()].map((method) => describe(method, sender))
  const methods = [
    ...side(methodsOf(dialect.clientToServer), "client"),
    ...side(methodsOf(dialect.serverToClient), "server"),
  ]
  for (const [name, schema] of Object.entries(named)) {
    definitions.all[name] ??= definitions.take(schema)
  }
  return { dialect: dialect.name, methods, definitions: definitions.all }
}
