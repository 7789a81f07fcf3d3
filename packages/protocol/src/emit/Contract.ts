/**
 * The contract of a dialect as plain data: every method with the JSON Schema of its params and result, and the named
 * types they share. The emitters beside this file print it; nothing here knows how. Derived from the definitions alone.
 */
import type * as Rpc from "effect/rpc/Rpc"
import * as Schema from "effect/Schema"
import type { JsonSchema } from "../JsonSchema.ts"
import { type Dialect, infoOf, isVoid, type Method, type MethodInfo, methodsOf } from "../Method.ts"

export interface ContractMethod {
  /** On the wire. */
  readonly name: string
  readonly sender: "client" | "server"
  readonly info: MethodInfo
  /** Absent where whatever is sent is ignored. */
  readonly params?: JsonSchema
  /** Absent for notifications, and for requests whose result says nothing. */
  readonly result?: JsonSchema
}

export interface Contract {
  readonly dialect: string
  /** Those of the client first; in the order of their definition. */
  readonly methods: ReadonlyArray<ContractMethod>
  /** By name: what `#/$defs/<name>` refers to, in the order of first use. */
  readonly definitions: Readonly<Record<string, JsonSchema>>
}

/** What a type says of the member that has it is no part of the type. */
const undescribed = ({ description: _, ...type }: JsonSchema): JsonSchema => type

const same = (a: JsonSchema, b: JsonSchema): boolean => JSON.stringify(a) === JSON.stringify(b)

/** Gathers the named types of several schemas; one name means one type. */
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

  /** The schema, its named types kept. Throws when one name means two types: a mistake in a definition. */
  take(schema: Schema.Top): JsonSchema {
    const document = Schema.toJsonSchemaDocument(schema)
    for (const [name, definition] of Object.entries(document.definitions)) {
      this.add(name, definition)
    }
    return document.schema
  }
}

/** `named` are types that belong to the contract without being a member of any method. */
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
