/** The page packages/docs/configuration-keys.md: every key of `config.toml`, from the schema that reads them. Pure. */
import { type JsonSchema, jsonSchemaOf } from "@colloquy/protocol/JsonSchema"
import { allKeys } from "../../../src/config/AllKeys.ts"
import { cell, descriptionOf, generatedFrom, membersOf, table, valueOf } from "./Tables.ts"

/** The keys of one table of the file. */
interface KeyTable {
  /** Its name in the file, such as `[tools]`; empty for the top level. */
  readonly name: string
  readonly keys: ReadonlyArray<readonly [string, JsonSchema]>
}

const choices = (schema: JsonSchema): ReadonlyArray<string> =>
  Array.isArray(schema["enum"]) ? schema["enum"].map((one) => `\`${JSON.stringify(one)}\``) : []

const integerLimit = Number.MAX_SAFE_INTEGER

const numberOf = ({ maximum, minimum, type }: JsonSchema): string => {
  const kind = type === "integer" ? "whole number" : "number"
  if (typeof maximum === "number" && maximum < integerLimit)
    return `${kind}, ${String(minimum)} to ${maximum}`
  return typeof minimum === "number" && minimum > 0 ? `${kind}, at least ${minimum}` : kind
}

/** What the value of a key may be, for a person. */
const kindOf = (schema: JsonSchema): string => {
  const named = choices(schema)
  if (named.length > 0) return named.join(", ")
  if (Array.isArray(schema["anyOf"])) return schema["anyOf"].map(kindOf).join("; or ")
  switch (schema["type"]) {
    case "string":
      return "text"
    case "boolean":
      return "`true` or `false`"
    case "integer":
    case "number":
      return numberOf(schema)
    case "array":
      return "array of texts"
    default: {
      const members = membersOf(schema).map(([name, one]) => `\`${name}\` (${kindOf(one)})`)
      return members.length === 0 ? "table of texts" : `table of ${members.join(", ")}`
    }
  }
}

/** A table whose values are texts is the value of a key. */
const isValue = (schema: JsonSchema): boolean => {
  const value = valueOf(schema)
  return membersOf(schema).length === 0 && (value === undefined || membersOf(value).length === 0)
}

const under = (name: string, key: string): string => (name === "" ? key : `${name}.${key}`)

const tablesOf = (schema: JsonSchema, name: string): ReadonlyArray<KeyTable> => {
  const value = valueOf(schema)
  if (value !== undefined) return tablesOf(value, under(name, "NAME"))
  const members = membersOf(schema)
  return [
    { name, keys: members.filter(([, one]) => isValue(one)) },
    ...members
      .filter(([, one]) => !isValue(one))
      .flatMap(([key, one]) => tablesOf(one, under(name, key))),
  ]
}

const rowOf = ([name, schema]: readonly [string, JsonSchema]): ReadonlyArray<string> => [
  `\`${name}\``,
  cell(kindOf(schema)),
  schema["default"] === undefined ? "" : cell(`\`${JSON.stringify(schema["default"])}\``),
  cell(descriptionOf(schema)),
]

const head = ["key", "value", "default", "meaning"]

/** The keys of a profile are those of the top level with the same meaning. */
const profile = "profiles.NAME"

const sectionOf = ({ keys, name }: KeyTable): string => {
  if (name === profile) {
    const names = keys.map(([key]) => `\`${key}\``).join(", ")
    return `## \`[${name}]\`\n\nThe same as at the top level, for conversations with this profile: ${names}.`
  }
  const title = name === "" ? "## Top level" : `## \`[${name}]\``
  return `${title}\n\n${table(head, keys.map(rowOf))}`
}

/** The whole page. */
export const configurationKeys = (): string =>
  [
    "# Configuration keys",
    generatedFrom("the schema of the keys"),
    "Every key of `config.toml` and `-c`, table by table. `NAME` is a name that the author of the file chooses. A key without a default is absent unless it is set. [Configuration](configuration.md) explains how they work together; `colloquy config` prints those in effect.",
    ...tablesOf(jsonSchemaOf(allKeys()), "")
      .filter(({ keys }) => keys.length > 0)
      .map(sectionOf),
  ].join("\n\n") + "\n"
