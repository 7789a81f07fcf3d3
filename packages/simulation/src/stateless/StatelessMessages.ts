/** What a client without a handshake says, as texts. Pure. */
import {
  Cancelled,
  CodexEvent,
  Initialize,
  Ping,
  ToolsCall,
  ToolsList,
} from "@colloquy/protocol/mcp/CodexMcp"
import { Discover } from "@colloquy/protocol/mcp/Discover"
import { MetaKey, statelessVersions } from "@colloquy/protocol/mcp/Revisions"
import { SubscriptionsListen } from "@colloquy/protocol/mcp/Subscriptions"
import {
  tasksExtension,
  TasksCancel,
  TasksGet,
  TasksList,
  TasksUpdate,
} from "@colloquy/protocol/mcp/Tasks"
import type { Asked, KnownTask, Members } from "./StatelessKnown.ts"
import type { Answering, Declares, StatelessStep } from "./StatelessPlan.ts"

export type Said = Exclude<StatelessStep, { readonly say: "pause" | "yield" | "change" }>

/** The one resource of the embedder. */
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

/** Fits the form of either kind of question. */
const content = (decision: string) => ({
  action: "accept",
  content: { decision, name: "somebody" },
})

/** None of them fits. */
const wrong = { action: "accept", content: { decision: "perhaps", name: 7 } }

const responsesOf = (how: Answering, keys: ReadonlyArray<string>): Members => {
  const answered = how === "half" ? keys.slice(0, 1) : how === "nothing" ? [] : keys
  const one = how === "no" ? content("denied") : how === "wrong" ? wrong : content("approved")
  return Object.fromEntries(answered.map((key) => [key, one]))
}

/** One character in the middle is another one. */
const changed = (state: string): string => {
  const middle = state.length >> 1
  const other = state[middle] === "a" ? "b" : "a"
  return `${state.slice(0, middle)}${other}${state.slice(middle + 1)}`
}

const answer = (
  { how, id }: Extract<Said, { say: "answer" }>,
  { keys, params, state }: Asked,
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

const ofTask = ({ does, id }: Extract<Said, { say: "task" }>, { id: taskId, keys }: KnownTask) => {
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

const garbage = ({ id, what }: Extract<Said, { say: "garbage" }>): string => {
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

/** The code that it has to be answered with; undefined for what has no id to answer to. */
export const codeOf: Readonly<Record<Extract<Said, { say: "garbage" }>["what"], number>> = {
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

export interface Knows {
  readonly asked: Asked | undefined
  readonly task: KnownTask | undefined
}

/** Who was asked nothing answers with a state that is none; who has no task names one that is none. */
const nothingAsked: Asked = {
  state: "AAAA",
  keys: [],
  params: { name: "form", arguments: { text: "" }, _meta: meta(withTasks) },
}
const noTask: KnownTask = { id: "no-such-task", keys: ["1-name"] }

export const textOf = (step: Said, { asked = nothingAsked, task = noTask }: Knows): string => {
  switch (step.say) {
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
