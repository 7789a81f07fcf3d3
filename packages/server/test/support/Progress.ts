/** Calls that name a progress token, and the progress that the server sent. */
import { type Harness, toolCall } from "./Harness.ts"

export const withToken = (message: ReturnType<typeof toolCall>, progressToken: unknown) => ({
  ...message,
  params: { ...message.params, _meta: { progressToken } },
})

export const codex = (id: unknown, prompt: string, token: unknown) =>
  withToken(toolCall(id, "codex", { prompt }), token)

export const progressOf = ({ messages }: Harness, token?: unknown) =>
  messages.flatMap(({ method, params = {} }) =>
    method === "notifications/progress" &&
    (token === undefined || params["progressToken"] === token)
      ? [params]
      : [],
  )

export const lines = (server: Harness, token?: unknown) =>
  progressOf(server, token).map(({ message }) => message)

export const rises = (numbers: ReadonlyArray<unknown>) =>
  numbers.every((n, i) => i === 0 || Number(n) > Number(numbers[i - 1]))
