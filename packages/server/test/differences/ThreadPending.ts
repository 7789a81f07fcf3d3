/** What app-server v2 does not serve yet, and recordings show. The list is to become empty. */
import type { Mismatch } from "../support/Compare.ts"
import { anyOf, type Explains } from "./Explain.ts"
import { inPath, member, version as shown, whole } from "./ThreadExplain.ts"

/** A part that is not served. */
export interface Pending {
  readonly key: string
  /** The recordings that show it, each of them. */
  readonly recordings: ReadonlyArray<string>
  readonly explains: Explains
}

/** True when the part is the reason of this mismatch of a replay. */
export const isPending = (
  { explains, recordings }: Pending,
  version: string,
  recording: string,
  mismatch: Mismatch,
): boolean => version === shown && recordings.includes(recording) && explains(mismatch)

const apps = (...names: ReadonlyArray<string>) => names.map((name) => `app_${name}`)

export const pending: ReadonlyArray<Pending> = [
  {
    key: "read-state",
    recordings: apps(
      ...["caps_optout", "compact", "dynamic_tools", "eof_then_resume", "ephemeral"],
      ...["fork_variants", "legacy_history", "list_paging", "list_resume_fork"],
      ...["mcp_elicit_decline", "mcp_tools", "model_errors", "permissions", "queue"],
      ...["read_turns", "resume_after_restart", "resume_overrides", "steer_drops_partial"],
      ...["thread_ops", "user_input", "ws_basic", "ws_late_joiner_pending_approval"],
      ...["ws_sigterm", "ws_two_clients"],
    ),
    explains: anyOf(
      whole("missing", /^thread\/readState\/changed$/),
      inPath(/^response to thread\/(?:read|list)$/, /^result\.readStates?$/),
      inPath(/^response to thread\/readState\/update$/, /^(?:result|error)/),
    ),
  },
  {
    key: "user-input",
    recordings: apps("user_input"),
    explains: anyOf(
      whole(
        "missing",
        /^(?:item\/tool\/requestUserInput|serverRequest\/resolved|thread\/status\/changed active)$/,
      ),
      whole("missing", /^warning$/, (m) =>
        String(member(m, "params", "message")).startsWith("Under-development features enabled: "),
      ),
    ),
  },
  {
    key: "terminal",
    recordings: apps("command_exec"),
    explains: anyOf(
      whole("missing", /^command\/exec\/outputDelta$/),
      inPath(/^response to command\/exec/, /^(?:result|error)$/, ({ request }) =>
        ["10", "11", "12"].includes(request),
      ),
    ),
  },
]
