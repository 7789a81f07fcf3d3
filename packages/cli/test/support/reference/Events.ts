/** The page packages/docs/events.md: every event of a conversation, from the definitions. Pure. */
import { typeExpression } from "../../../../protocol/src/emit/TypeExpression.ts"
import type { Audience } from "@colloquy/protocol/EventDefinition"
import { EventMsg } from "@colloquy/protocol/EventMsg"
import { type JsonSchema, jsonSchemaOf } from "@colloquy/protocol/JsonSchema"
import { cell, descriptionOf, generatedFrom, membersOf, table } from "./Tables.ts"

const receivers: Readonly<Record<Audience, string>> = {
  original: "every client",
  "codex-mcp": "MCP clients, and listeners of the app-server that gave `after`",
  colloquy: "listeners of the app-server that gave `after`",
  raw: "listeners of the app-server that asked for raw events (`experimentalRawEvents`)",
}

const reference = "../protocol/contract/codex-mcp.md"

/** The type of a member on one line; the named types in it are linked below the table. */
const typeOf = (schema: JsonSchema): string =>
  cell(`\`${typeExpression(schema).replaceAll(/(?<!\{)\n\s*readonly /g, "; readonly ")}\``)

/** The names of the types that a schema refers to. */
const namedIn = (schema: unknown): ReadonlyArray<string> => [
  ...new Set(
    Array.from(JSON.stringify(schema).matchAll(/"#\/\$defs\/(\w+)"/g), ([, name = ""]) => name),
  ),
]

type Definition = (typeof EventMsg.members)[number]

const factsOf = ({ info }: Definition): string =>
  [
    info.durable ? "Recorded and numbered" : "Not recorded",
    ...(info.ends ? ["ends a turn"] : []),
    `since ${info.since}`,
    `sent to ${receivers[info.audience]}`,
    ...(info.legacy ? ["never produced by Colloquy"] : []),
  ].join("; ")

const membersTable = (schema: JsonSchema): string => {
  const required = Array.isArray(schema["required"]) ? schema["required"] : []
  const members = membersOf(schema).filter(([name]) => name !== "type")
  if (members.length === 0) return "It has no members."
  const rows = members.map(([name, one]) => [
    `\`${name}\``,
    typeOf(one),
    required.includes(name) ? "always" : "optional",
    cell(descriptionOf(one)),
  ])
  return rows.every(([, , , text]) => text === "")
    ? table(
        ["member", "type", "present"],
        rows.map((row) => row.slice(0, 3)),
      )
    : table(["member", "type", "present", "meaning"], rows)
}

/** The schema of an event without its definitions. */
const resolved = ({ $defs, $ref, ...rest }: JsonSchema): JsonSchema => {
  const name = typeof $ref === "string" ? $ref.slice("#/$defs/".length) : undefined
  if (name === undefined) return rest
  const found = Object.entries($defs ?? {}).find(([key]) => key === name)?.[1]
  return typeof found === "object" && found !== null ? { ...found } : rest
}

const sectionOf = (definition: Definition): string => {
  const own = resolved(jsonSchemaOf(definition))
  const named = namedIn(own).map((name) => `[\`${name}\`](${reference}#${name.toLowerCase()})`)
  return [
    `## \`${definition.fields.type.literal}\``,
    definition.info.doc,
    `${factsOf(definition)}.`,
    membersTable(own),
    ...(named.length === 0 ? [] : [`Types: ${named.join(", ")}.`]),
  ].join("\n\n")
}

/** The whole page. */
export const events = (): string =>
  [
    "# Events",
    generatedFrom("the definitions of the events"),
    "What a conversation reports to those who listen: objects with a `type`. [Wire facts](wire/events.md) have their order in a turn; the types of the library are `EventMsg` and one named type for each event. An event of another version that is not listed here arrives as `unknown_event`, with what was sent.",
    ...EventMsg.members.map(sectionOf),
  ].join("\n\n") + "\n"
