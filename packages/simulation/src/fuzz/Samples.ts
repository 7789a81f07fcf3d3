/** Draws valid values of a JSON Schema that uses only the keywords that the protocol's emitters write. Pure except for the draws. */
import type { SeededRandom } from "../SeededRandom.ts"
import { oneOf } from "./Bytes.ts"

type Schema = Readonly<Record<string, unknown>>

const isRecord = (u: unknown): u is Schema =>
  typeof u === "object" && u !== null && !Array.isArray(u)

const schemasOf = (u: unknown): ReadonlyArray<Schema> =>
  Array.isArray(u) ? u.filter(isRecord) : []

const texts = ["hello", "", "a b", "é😀", "/work/file.txt", "2"]

/** What samples refer to. */
export interface SampleOptions {
  /** Types by name; `$ref` refers to them as `#/$defs/<name>`. */
  readonly definitions: Readonly<Record<string, unknown>>
  /** Values for string members with these names: ids that exist in the program. */
  readonly known: Readonly<Record<string, ReadonlyArray<string>>>
}

/** Below this depth the shortest values are drawn, so that recursion ends. */
const maxDepth = 8

/** Draws values of the schemas of one set of definitions. */
export class Samples {
  private readonly options: SampleOptions

  constructor(options: SampleOptions) {
    this.options = options
  }

  private referenced({ $ref }: Schema): Schema | undefined {
    if (typeof $ref !== "string") return undefined
    const found = this.options.definitions[$ref.replace("#/$defs/", "")]
    return isRecord(found) ? found : undefined
  }

  private object(schema: Schema, draws: SeededRandom, depth: number): unknown {
    const properties = isRecord(schema["properties"]) ? schema["properties"] : {}
    const required = new Set<unknown>(Array.isArray(schema["required"]) ? schema["required"] : [])
    const keep = depth < maxDepth ? draws.pick(0, 0.3, 0.9) : 0
    return Object.fromEntries(
      Object.entries(properties).flatMap(([name, member]) =>
        isRecord(member) && (required.has(name) || draws.chance(keep))
          ? [[name, this.sample(member, draws, name, depth + 1)]]
          : [],
      ),
    )
  }

  private number({ maximum, minimum, type }: Schema, draws: SeededRandom): number {
    const low = typeof minimum === "number" ? minimum : -10
    const high = typeof maximum === "number" ? maximum : low + 1_000
    const value = draws.chance(0.2) ? draws.pick(low, high) : Math.min(high, low + draws.below(100))
    return type === "integer" ? Math.trunc(value) : value
  }

  /** A value that fits the schema. `name` is the name of the member that gets the value. */
  sample(schema: Schema, draws: SeededRandom, name = "", depth = 0): unknown {
    const target = this.referenced(schema)
    if (target !== undefined) return this.sample(target, draws, name, depth + 1)
    if (Array.isArray(schema["enum"])) return oneOf<unknown>(draws, schema["enum"])
    if ("const" in schema) return schema["const"]
    const choices = schemasOf(schema["anyOf"] ?? schema["oneOf"])
    if (choices.length > 0) {
      const choice = depth > maxDepth ? (choices.at(-1) ?? schema) : oneOf(draws, choices)
      return this.sample(choice, draws, name, depth + 1)
    }
    switch (schema["type"]) {
      case "object":
        return this.object(schema, draws, depth)
      case "array": {
        const { items } = schema
        const count = depth > maxDepth ? 0 : draws.below(3)
        return Array.from({ length: count }, () =>
          this.sample(isRecord(items) ? items : {}, draws, "", depth + 1),
        )
      }
      case "integer":
      case "number":
        return this.number(schema, draws)
      case "boolean":
        return draws.chance(0.5)
      case "null":
        return null
      case "string":
        return oneOf(draws, this.options.known[name] ?? texts)
      default:
        return oneOf<unknown>(draws, [{}, "x", 1, null, [], { a: { b: 1 } }])
    }
  }
}
