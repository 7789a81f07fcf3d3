/** The reference page of a contract: every method with its members, and every named type. Pure. */
import type { JsonSchema } from "../JsonSchema.ts"
import type { MethodInfo } from "../Method.ts"
import type { Contract, ContractMethod } from "./Contract.ts"
import { typeExpression, typeName } from "./TypeExpression.ts"

const cell = (text: string): string => text.replaceAll(/\s+/g, " ").replaceAll("|", "\\|")

/** A type on one line, with semicolons between its members. */
const oneLine = (type: string): string =>
  cell(type.replaceAll(/(?<!\{)\n\s*readonly /g, "; readonly "))

/** A type in a table. A long one is named by its kind and printed below the table. */
const typeCell = (schema: JsonSchema): string => {
  const type = typeExpression(schema)
  return type.length <= 120
    ? `\`${oneLine(type)}\``
    : `\`${schema["type"] === "array" ? "array" : "object"}\`, see below`
}

const isLong = (schema: JsonSchema): boolean => typeExpression(schema).length > 120

const block = (name: string, schema: JsonSchema): string =>
  `\n\`\`\`ts\ntype ${name} = ${typeExpression(schema)}\n\`\`\`\n`

const membersOf = (schema: JsonSchema): ReadonlyArray<readonly [string, JsonSchema]> => {
  const { properties } = schema
  return typeof properties === "object" && properties !== null
    ? Object.entries(properties as Readonly<Record<string, JsonSchema>>)
    : []
}

const memberTable = (schema: JsonSchema): string => {
  const members = membersOf(schema)
  if (members.length === 0) return block("Value", schema).replace("type Value = ", "")
  const required = Array.isArray(schema["required"]) ? schema["required"] : []
  const rows = members.map(([name, one]) => {
    const { description } = one
    const text = typeof description === "string" ? cell(description) : ""
    return `| \`${name}\` | ${typeCell(one)} | ${required.includes(name) ? "yes" : "no"} | ${text} |\n`
  })
  const long = members
    .filter(([, one]) => isLong(one))
    .map(([name, one]) => block(typeName(name), one))
  return `\n| member | type | required | |\n|---|---|---|---|\n${rows.join("")}${long.join("")}`
}

const experimentalFacts = ({ experimental }: MethodInfo): ReadonlyArray<string> => {
  if (experimental === undefined) return []
  const which =
    experimental === true ? "" : `${experimental.map((name) => `\`${name}\``).join(", ")} `
  return [`${which}experimental: needs the capability \`experimentalApi\``]
}

const facts = ({ info, sender }: ContractMethod): string =>
  [
    `${info.kind === "request" ? "Request" : "Notification"} of the ${sender}`,
    `since ${info.since}`,
    ...(info.until === undefined ? [] : [`until ${info.until}`]),
    ...(info.capability === undefined ? [] : [`needs the capability \`${info.capability}\``]),
    ...(info.cancellable === false ? ["cannot be cancelled"] : []),
    ...experimentalFacts(info),
  ].join(", ")

const section = (method: ContractMethod): string => {
  const { info, name, params, result } = method
  return [
    `### \`${name}\`\n\n${facts(method)}. ${info.doc}\n`,
    ...(params === undefined ? [] : [`\nParams:\n${memberTable(params)}`]),
    ...(result === undefined ? [] : [`\nResult:\n${memberTable(result)}`]),
  ].join("")
}

/** The text of the page; it ends in a newline. */
export const markdownOf = (contract: Contract): string => {
  const side = (sender: ContractMethod["sender"]) =>
    contract.methods.filter((method) => method.sender === sender).map(section)
  const types = Object.entries(contract.definitions).map(
    ([name, schema]) => `### ${typeName(name)}\n${block(typeName(name), schema)}`,
  )
  return [
    `# The dialect \`${contract.dialect}\`\n\nGenerated from its definitions.\n`,
    `## What the client sends\n`,
    ...side("client"),
    `## What the server sends\n`,
    ...side("server"),
    ...(types.length === 0 ? [] : [`## Types\n`, ...types]),
  ].join("\n")
}
