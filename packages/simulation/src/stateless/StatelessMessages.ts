/** The steps of clients without a handshake as JSON texts. Pure. */
import {
  Initialize,
  Cancelled,
  CodexEvent,
  Ping,
  ToolsCall,
  ToolsList,
} from "@colloquy/protocol/mcp/CodexMcp"
import { Discover } from "@colloquy/protocol/mcp/Discover"
import { MetaKey, statelessVersions } from "@colloquy/protocol/mcp/Revisions"
import { SubscriptionsListen } from "@colloquy/protocol/mcp/Subscriptions"
import { tasksExtension } from "@colloquy/protocol/mcp/Extensions"
import { TasksCancel, TasksGet, TasksList, TasksUpdate } from "@colloquy/protocol/mcp/Tasks"
import type { PendingQuestions, KnownTask, Members } from "./StatelessKnown.ts"
import type { Answering, Declares, StatelessStep } from "./StatelessPlan.ts"

/** A step that sends a message. */
export type MessageStep = Exclude<StatelessStep, { readonly do: "pause" | "yield" | "change" }>

/** Address of the only resource of the embedder. */
export const resource = "simulated:one"

const request = (id: number, method: string, params?: unknown) =>
  JSON.stringify({ jsonrpc: "2.0", id, method, ...(params === undefined ? {} : { params }) })

const capabilitiesOf = ({ events, forms, tasks }: Declares): Members => ({
  ...(forms ? { elicitation: {} } : {}),
  ...(tasks ? { extensions: { [tasksExtension]: {} } } : {}),
  ...(events ? { experimental: { [CodexEvent._tag]: {} } } : {}),
})

const meta = (declares: Declares, revision: string = statelessVersions[0]) => ({
  [MetaKey.protocolVersion]: revision,
  [MetaKey.clientCapabilities]: capabilitiesOf(declares),
})

const bare: Declares = { forms: false, tasks: false, events: false }
const withTasks: Declares = { forms: true, tasks: true, events: false }

/** An answer that fits both kinds of questions. */
const content = (decision: string) => ({
  action: "accept",
  content: { decision, name: "a person" },
})

/** An answer that fits neither kind of question. */
const wrong = { action: "accept", content: { decision: "perhaps", name: 7 } }

const responsesOf = (how: Answering, keys: ReadonlyArray<string>): Members => {
  const answered = how === "half" ? keys.slice(0, 1) : how === "nothing" ? [] : keys
  const one = how === "no" ? content("denied") : how === "wrong" ? wrong : content("approved")
  return Object.fromEntries(answered.map((key) => [key, one]))
}

/** The state with one character in its middle replaced. */
const changed = (state: string): string => {
  const middle = state.length >> 1
  const other = state[middle] === "a" ? "b" : "a"
  return `${state.slice(0, middle)}${other}${state.slice(middle + 1)}`
}

const answer = (
  { how, id }: Extract<MessageStep, { do: "answer" }>,
  { keys, params, state }: PendingQuestions,
): string => {
  const { arguments: args, name } = params
  return request(id, ToolsCall._tag, {
    ...params,
    name,
    arguments: how === "elsewhere" ? { ...(args as Members), more: "" } : args,
    requestState: how === "tampered" ? changed(state) : state,
    inputResponses: responsesOf(how, keys),
  })
}

const ofTask = (
  { does, id }: Extract<MessageStep, { do: "task" }>,
  { id: taskId, keys }: KnownTask,
) => {
  const params = { taskId, _meta: meta(withTasks) }
  switch (does) {
    case "get":
      return request(id, TasksGet._tag, params)
    case "cancel":
      return request(id, TasksCancel._tag, params)
    default:
      return request(id, TasksUpdate._tag, { ...params, inputResponses: responsesOf(does, keys) })
  }
}

const garbage = ({ id, what }: Extract<MessageStep, { do: "garbage" }>): string => {
  const _meta = meta(bare)
  switch (what) {
    case "no meta":
      return request(id, Discover._tag)
    case "half a meta":
      return request(id, Discover._tag, {
        _meta: { [MetaKey.protocolVersion]: statelessVersions[0] },
      })
    case "unknown revision":
      return request(id, ToolsList._tag, { _meta: meta(bare, "2099-01-01") })
    case "removed method":
      return request(id, Ping._tag, { _meta })
    case "old tasks":
      return request(id, TasksList._tag, { _meta: meta(withTasks) })
    case "undeclared tasks":
      return request(id, TasksGet._tag, { taskId: "x", _meta })
    case "no tool":
      return request(id, ToolsCall._tag, { name: "no-such", arguments: {}, _meta })
    case "batch":
      return `[${request(id, Discover._tag, { _meta })}]`
    case "bad cursor":
      return request(id, ToolsList._tag, { cursor: "x", _meta })
  }
}

/** The error code that each bad request must get. */
export const codeOf: Readonly<Record<Extract<MessageStep, { do: "garbage" }>["what"], number>> = {
  "no meta": -32602,
  "half a meta": -32602,
  "unknown revision": -32022,
  "removed method": -32601,
  "old tasks": -32601,
  "undeclared tasks": -32021,
  "no tool": -32602,
  batch: -32600,
  "bad cursor": -32602,
}

/** What the sending client refers to. */
export interface Knowledge {
  readonly asked: PendingQuestions | undefined
  readonly task: KnownTask | undefined
}

/** A client without a pending question sends an invalid state; a client without a task names one that does not exist. */
const nothingAsked: PendingQuestions = {
  state: "AAAA",
  keys: [],
  params: { name: "form", arguments: { text: "" }, _meta: meta(withTasks) },
}
const noTask: KnownTask = { id: "no-such-task", keys: ["1-name"] }

/** The message that a step sends. */
export const textOf = (
  step: MessageStep,
  { asked = nothingAsked, task = noTask }: Knowledge,
): string => {
  switch (step.do) {
    case "discover":
      return request(step.id, Discover._tag, { _meta: meta(bare) })
    case "call": {
      const args = step.tool === "codex" ? { prompt: step.text } : { text: step.text }
      const _meta = meta(step.declares)
      return request(step.id, ToolsCall._tag, { name: step.tool, arguments: args, _meta })
    }
    case "answer":
      return answer(step, asked)
    case "cancel":
      return JSON.stringify({
        jsonrpc: "2.0",
        method: Cancelled._tag,
        params: { requestId: step.id },
      })
    case "listen": {
      const notifications = {
        ...(step.tools ? { toolsListChanged: true } : {}),
        ...(step.resource ? { resourceSubscriptions: [resource] } : {}),
        ...(step.task ? { taskIds: [task.id] } : {}),
      }
      return request(step.id, SubscriptionsListen._tag, { notifications, _meta: meta(withTasks) })
    }
    case "task":
      return ofTask(step, step.of === "unknown" ? noTask : task)
    case "garbage":
      return garbage(step)
    case "hello":
      return request(step.id, Initialize._tag, {
        protocolVersion: "2025-06-18",
        capabilities: {},
        clientInfo: { name: "simulated", version: "0" },
      })
  }
}
