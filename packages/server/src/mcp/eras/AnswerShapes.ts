/**
 * Checks whether a client's answer has the shape that its question requires. Pure. An answer of another shape counts as
 * absent, so the question stays pending. Of a form's schema, only what MCP allows in a form is checked: the flat
 * members of one object, their types and their allowed values.
 */
import { CreateMessage, RootsList } from "@colloquy/protocol/mcp/ClientFeatures"
import { Elicit } from "@colloquy/protocol/mcp/CodexMcp"
import { readDecision } from "@colloquy/protocol/mcp/Elicitation"
import { presentMembers } from "@colloquy/protocol/NullAsAbsent"
import * as Result from "effect/Result"
import type { InputRequest, InputResponse, Members } from "../RequestContext.ts"
import { isMembers } from "./Capabilities.ts"

const isText = (u: unknown): u is string => typeof u === "string"

/** The values that a member's schema allows. Undefined if the schema allows every value of the member's type. */
const choices = (schema: Members): ReadonlyArray<unknown> | undefined => {
  if (Array.isArray(schema["enum"])) return schema["enum"]
  const titled = schema["oneOf"] ?? schema["anyOf"]
  return Array.isArray(titled)
    ? titled.map((one: unknown) => (isMembers(one) ? one["const"] : undefined))
    : undefined
}

const fitsType = (schema: Members, value: unknown): boolean => {
  switch (schema["type"]) {
    case "string":
      return isText(value)
    case "number":
      return typeof value === "number"
    case "integer":
      return Number.isInteger(value)
    case "boolean":
      return typeof value === "boolean"
    case "array": {
      const items = isMembers(schema["items"]) ? schema["items"] : {}
      return (
        Array.isArray(value) && value.every((one) => fitsMember({ type: "string", ...items }, one))
      )
    }
    default:
      return true
  }
}

const fitsMember = (schema: Members, value: unknown): boolean => {
  const allowed = schema["type"] === "array" ? undefined : choices(schema)
  return fitsType(schema, value) && (allowed === undefined || allowed.includes(value))
}

/** True if the content of a form has every required member and all its members fit. `content` has no null members. */
const fitsForm = (schema: unknown, content: unknown): boolean => {
  if (!isMembers(content)) return false
  if (!isMembers(schema)) return true
  const required = Array.isArray(schema["required"]) ? schema["required"] : []
  const properties = isMembers(schema["properties"]) ? schema["properties"] : {}
  return (
    required.every((name) => isText(name) && Object.hasOwn(content, name)) &&
    Object.entries(content).every(([name, value]) => {
      const member = Object.hasOwn(properties, name) ? properties[name] : undefined
      return !isMembers(member) || fitsMember(member, value)
    })
  )
}

/** True for a valid decision about an approval. It needs no form content, because clients without forms send none. */
const isApproval = (params: Members, answer: Members): boolean =>
  params["codex_elicitation"] !== undefined && Result.isSuccess(readDecision(answer))

const fitsElicitation = (params: Members, answer: Members): boolean => {
  switch (answer["action"]) {
    case "decline":
    case "cancel":
      return true
    case "accept":
      return (
        params["mode"] === "url" ||
        isApproval(params, answer) ||
        fitsForm(params["requestedSchema"], answer["content"])
      )
    default:
      return false
  }
}

const isRoot = (u: unknown): boolean => isMembers(u) && isText(u["uri"])

const fits = ({ method, params = {} }: InputRequest, answer: Members): boolean => {
  switch (method) {
    case Elicit._tag:
      return fitsElicitation(params, answer)
    case CreateMessage._tag:
      return (
        isText(answer["role"]) && isText(answer["model"]) && typeof answer["content"] === "object"
      )
    case RootsList._tag:
      return Array.isArray(answer["roots"]) && answer["roots"].every(isRoot)
  }
}

/** Removes the null members of an answer to an elicitation and of its form content: null means absent. */
export const withoutNullMembers = ({ method }: InputRequest, answer: Members): Members => {
  if (method !== Elicit._tag) return answer
  const present = presentMembers(answer)
  const { content } = present
  return isMembers(content) ? { ...present, content: presentMembers(content) } : present
}

/** The answer without null members, or undefined if it does not have the shape that its question requires. */
export const readResponse = (question: InputRequest, sent: unknown): InputResponse | undefined => {
  if (!isMembers(sent)) return undefined
  const answer = withoutNullMembers(question, sent)
  return fits(question, answer) ? answer : undefined
}
