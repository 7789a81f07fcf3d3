/** The capabilities that the server declares: one list for every era. Pure. */
import { codexEvent, eventsExtension, tasksExtension } from "@colloquy/protocol/mcp/Extensions"
import type { Revision } from "@colloquy/protocol/mcp/Revisions"
import type { Members } from "./RequestContext.ts"

/** The first revision whose clients request tasks, and the only one so far. */
const withTasks: Revision = "2025-11-25"

/** Whether clients of the revision can request tasks. */
export const supportsTasks = (agreed: Revision): boolean => agreed >= withTasks

/** The optional features that the server declares. */
export interface Offered {
  /**
   * How the vendor events are declared: `experimental`, sent unless the client declines them; `extension`, sent to
   * clients that request the extension; undefined, not declared.
   */
  readonly events: "experimental" | "extension" | undefined
  /** How tasks are declared: `asked`, for requests that ask for a task; `extension`; undefined, not declared. */
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
    ...(events === undefined ? {} : { experimental: { [codexEvent]: {} } }),
  }
}
