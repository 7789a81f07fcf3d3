/** What app-server v2 does not serve yet and recordings show. The list is to become empty. */
import type { Mismatch } from "../support/Compare.ts"
import { inPath, version as shown, whole } from "./ThreadExplain.ts"

/** A part that is missing, with the recordings that show it. Empty: all. */
export interface Pending {
  readonly key: string
  readonly recordings: ReadonlyArray<string>
  readonly explains: (mismatch: Mismatch) => boolean
}

/** True when the part is the reason of this mismatch of a replay. */
export const isPending = (
  { explains, recordings }: Pending,
  version: string,
  recording: string,
  mismatch: Mismatch,
): boolean => version === shown && recordings.includes(recording) && explains(mismatch)

export const pending: ReadonlyArray<Pending> = [
  {
    key: "read-state",
    recordings: [],
    explains: (m) =>
      whole("missing", /^thread\/readState\/changed$/)(m) ||
      inPath(/^response to thread\/(?:read|list)$/, /^result\.readStates?$/)(m) ||
      /^response to thread\/readState\/update$/.test(m.label),
  },
  { key: "dynamic-tools", recordings: ["app_dynamic_tools"], explains: () => true },
  { key: "user-input", recordings: ["app_user_input"], explains: () => true },
  { key: "review", recordings: ["app_review"], explains: () => true },
  {
    key: "terminal",
    recordings: ["app_command_exec"],
    explains: (m) =>
      ["10", "11", "12"].includes(m.request) || /^command\/exec\/outputDelta/.test(m.label),
  },
  {
    key: "shell-command",
    recordings: ["app_thread_ops"],
    explains: (m) =>
      m.request === "23" ||
      (m.kind === "missing" && JSON.stringify(m.original).includes("<turn of thread of 2 1>")) ||
      (m.kind === "missing" && /^thread\/status\/changed (?:active|idle)$/.test(m.label)),
  },
]
