/** What the server does, as it declares it: one list for every era. */
import { CodexEvent } from "@colloquy/protocol/mcp/CodexMcp"
import type { Members } from "./RequestContext.ts"

export interface Offered {
  /** Events beyond the specification. */
  readonly events: boolean
}

export const serverCapabilities = ({ events }: Offered): Members => ({
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: { listChanged: true },
  completions: {},
  logging: {},
  ...(events ? { experimental: { [CodexEvent._tag]: {} } } : {}),
})
