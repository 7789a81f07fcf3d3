/** What the server does, as it declares it: one list for every era. */
import { CodexEvent } from "@colloquy/protocol/mcp/CodexMcp"
import { tasksExtension } from "@colloquy/protocol/mcp/Tasks"
import type { Members } from "./RequestContext.ts"

export interface Offered {
  /** Events beyond the specification. */
  readonly events: boolean
  /** As requests that ask for them, or as the extension; undefined where there are none. */
  readonly tasks?: "asked" | "extension" | undefined
}

const taskCapabilities = (tasks: Offered["tasks"]): Members => {
  switch (tasks) {
    case "asked":
      return { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } }
    case "extension":
      return { extensions: { [tasksExtension]: {} } }
    case undefined:
      return {}
  }
}

export const serverCapabilities = ({ events, tasks }: Offered): Members => ({
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: { listChanged: true },
  completions: {},
  logging: {},
  ...taskCapabilities(tasks),
  ...(events ? { experimental: { [CodexEvent._tag]: {} } } : {}),
})
