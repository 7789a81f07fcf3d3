/**
 * The events of `colloquy exec --json`, one JSON text per line on stdout: a thread, its turn, and the turn's items. The shapes
 * are those of the original (`codex exec --experimental-json`), which its TypeScript SDK reads. Types only.
 */

/** Tokens of all requests of the thread so far, also of earlier processes. */
export interface ExecUsage {
  readonly input_tokens: number
  readonly cached_input_tokens: number
  readonly cache_write_input_tokens: number
  readonly output_tokens: number
  readonly reasoning_output_tokens: number
}

type Status = "in_progress" | "completed" | "failed"

/** What a turn consists of, distinguished by `type`. The ids count the items of the process. */
export type ExecItem = { readonly id: string } & (
  | { readonly type: "agent_message" | "reasoning"; readonly text: string }
  | {
      readonly type: "command_execution"
      /** One line, quoted for a shell. */
      readonly command: string
      /** Both streams, in the order in which they were written. */
      readonly aggregated_output: string
      readonly exit_code: number | null
      readonly status: Status
    }
  | {
      readonly type: "file_change"
      readonly changes: ReadonlyArray<{
        readonly path: string
        readonly kind: "add" | "update" | "delete"
      }>
      readonly status: Status
    }
  | {
      readonly type: "mcp_tool_call"
      readonly server: string
      readonly tool: string
      readonly arguments: unknown
      readonly result: {
        readonly content: ReadonlyArray<unknown>
        readonly structured_content: unknown
      } | null
      readonly error: { readonly message: string } | null
      readonly status: Status
    }
  | { readonly type: "web_search"; readonly query: string }
  | {
      readonly type: "todo_list"
      readonly items: ReadonlyArray<{ readonly text: string; readonly completed: boolean }>
    }
  /** A warning, or why a call was refused. */
  | { readonly type: "error"; readonly message: string }
)

type WithoutId<T> = T extends { readonly id: string } ? Omit<T, "id"> : never

/** An item before it has an id. */
export type ExecItemContent = WithoutId<ExecItem>

/** One line. */
export type ExecEvent =
  | { readonly type: "thread.started"; readonly thread_id: string }
  | { readonly type: "turn.started" }
  | {
      readonly type: "item.started" | "item.updated" | "item.completed"
      readonly item: ExecItem
    }
  | { readonly type: "turn.completed"; readonly usage: ExecUsage }
  | { readonly type: "turn.failed"; readonly error: { readonly message: string } }
  /** The turn fails, or a request to the model is repeated. */
  | { readonly type: "error"; readonly message: string }
