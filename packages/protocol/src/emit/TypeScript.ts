/**
 * TypeScript declarations of a contract: a module that compiles by itself, with every named type, the params and result of
 * every method, and four tables from method names to them, one per direction and kind. Pure.
 */
import type { JsonSchema } from "../JsonSchema.ts"
import type { Contract, ContractMethod } from "./Contract.ts"
import { docComment, typeExpression, typeName } from "./TypeExpression.ts"

/** `tools/call` is `ToolsCall`, `codex/event` is `CodexEvent`. */
const methodTypeName = (method: string): string =>
  typeName(
    method
      .split(/[^A-Za-z0-9]+/)
      .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
      .join(""),
  )

const declaration = (name: string, schema: JsonSchema, doc?: string): string => {
  const { description } = schema
  const text = doc ?? (typeof description === "string" ? description : undefined)
  return `${text === undefined ? "" : docComment(text, "")}export type ${name} = ${typeExpression(schema)}\n`
}

const typesOf = ({ name, params, result, info }: ContractMethod): ReadonlyArray<string> => {
  const type = methodTypeName(name)
  return [
    ...(params === undefined ? [] : [declaration(`${type}Params`, params, info.doc)]),
    ...(result === undefined ? [] : [declaration(`${type}Result`, result)]),
  ]
}

const entry = ({ name, params, result, info }: ContractMethod): string => {
  const type = methodTypeName(name)
  const given = params === undefined ? "undefined" : `${type}Params`
  const answer = result === undefined ? "Readonly<Record<string, never>>" : `${type}Result`
  const members =
    info.kind === "request" ? `params: ${given}; result: ${answer}` : `params: ${given}`
  return `${docComment(info.doc, "  ")}  ${JSON.stringify(name)}: { ${members} }\n`
}

const table = (
  { methods }: Contract,
  name: string,
  sender: ContractMethod["sender"],
  kind: "request" | "notification",
): string => {
  const entries = methods.filter((one) => one.sender === sender && one.info.kind === kind)
  return `/** ${kind === "request" ? "Requests" : "Notifications"} that the ${sender} sends, by their names on the wire. */
export interface ${name} {
${entries.map(entry).join("")}}
`
}

/** Methods without repetitions: one that both sides send has a single definition. */
const byName = (methods: ReadonlyArray<ContractMethod>): ReadonlyArray<ContractMethod> => [
  ...new Map(methods.map((method) => [method.name, method])).values(),
]

/** The text of the module; it ends in a newline. */
export const typeScriptOf = (contract: Contract): string =>
  [
    `// The dialect ${contract.dialect}. Generated from its definitions: edit those.\n`,
    ...Object.entries(contract.definitions).map(([name, schema]) =>
      declaration(typeName(name), schema),
    ),
    ...byName(contract.methods).flatMap(typesOf),
    table(contract, "ClientRequests", "client", "request"),
    table(contract, "ClientNotifications", "client", "notification"),
    table(contract, "ServerRequests", "server", "request"),
    table(contract, "ServerNotifications", "server", "notification"),
  ].join("\n")
