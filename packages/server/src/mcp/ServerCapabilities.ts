/** What the server does, as it declares it: one list for every era. */
import { CodexEvent, eventsExtension } from "@colloquy/protocol/mcp/CodexMcp"
import { tasksExtension } from "@colloquy/protocol/mcp/Tasks"
import type { Members } from "./RequestContext.ts"

/** The optional features that the server declares. */
export interface Offered {
  /** Events beyond the specification: told unless they are declined, or to who asks for the extension. */
  readonly events: "experimental" | "extension" | undefined
  /** As requests that ask for them, or as the extension; undefined where there are none. */
  readonly tasks: "asked" | "extension" | undefined
}

const asked = { list: {}, cancel: {}, requests: { tools: { call: {} } } }

/** The capabilities that the server declares in its response to `initialize` or `server/discover`. */
export const serverCapabilities = ({ events, tasks }: Offered): Members => {
  const extensions = {
    ...(tasks === "extension" ? { [tasksExtension]: {} } : {}),
    ...(events === "extension" ? { [eventsExtension]: {} } : {}),
  }
  return {
    tools: { listChanged: true },
    resources: { subscribe: true, listChanged: true },
    prompts: { listChanged: true },
    completions: {},
    logging: {},
    ...(tasks === "asked" ? { tasks: asked } : {}),
    ...(Object.keys(extensions).length === 0 ? {} : { extensions }),
    ...(events === undefined ? {} : { experimental: { [CodexEvent._tag]: {} } }),
  }
}
