/** Starts the built server on a port as a separate process, and sends requests to it as a third-party client does. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { spawn } from "node:child_process"
import { tmpdir } from "node:os"
import { entry } from "./BuiltProgram.ts"
import { environment } from "./Server.ts"

interface Exit {
  readonly code: number | null
  readonly signal: string | null
}

/** A server that listens, or has failed to. */
export interface HttpProcess {
  readonly pid: number
  readonly stdout: () => string
  readonly stderr: () => string
  /** The address that it listens on. */
  readonly url: Effect.Effect<string>
  readonly exit: Effect.Effect<Exit>
  readonly kill: (signal: "SIGTERM" | "SIGKILL") => Effect.Effect<void>
}

/**
 * Starts the program with the arguments; it is killed with the scope.
 *
 * @param cwd its working directory; default: the directory of temporary files
 */
export const startHttp = (
  home: string,
  args: ReadonlyArray<string>,
  cwd: string = tmpdir(),
): Effect.Effect<HttpProcess, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const child = spawn(process.execPath, [entry, ...args], {
        env: environment({ home }),
        cwd,
        stdio: ["ignore", "pipe", "pipe"],
      })
      let stdout = ""
      let stderr = ""
      const url = new Promise<string>((resolve, reject) => {
        child.stdout.setEncoding("utf8").on("data", (text: string) => {
          stdout += text
          const [, found] = /^Listening on (\S+)$/m.exec(stdout) ?? []
          if (found !== undefined) resolve(found)
        })
        child.once("close", () => reject(new Error(`the server has ended: ${stderr}`)))
      })
      url.catch(() => {})
      child.stderr.setEncoding("utf8").on("data", (text: string) => {
        stderr += text
      })
      const exited = new Promise<Exit>((resolve) => {
        child.once("close", (code, signal) => resolve({ code, signal }))
      })
      const server: HttpProcess = {
        pid: child.pid ?? 0,
        stdout: () => stdout,
        stderr: () => stderr,
        url: Effect.promise(() => url),
        exit: Effect.promise(() => exited),
        kill: (signal) => Effect.sync(() => child.kill(signal)),
      }
      return { server, child, exited }
    }),
    ({ child, exited }) =>
      Effect.promise(() => {
        child.kill("SIGKILL")
        return exited
      }),
  ).pipe(Effect.map(({ server }) => server))

/** A response whose body was read to its end. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** Reads a body to its end, and tells of what has arrived so far. */
const readAll = async (response: Response, onText: (text: string) => void): Promise<string> => {
  const decoder = new TextDecoder()
  let text = ""
  for await (const part of response.body ?? []) {
    text += decoder.decode(part, { stream: true })
    onText(text)
  }
  return text
}

/**
 * Sends a request and reads the whole response.
 *
 * @param onText called with the text of the body so far, whenever more has arrived
 */
export const request = (
  url: string,
  init: RequestInit & { readonly token?: string; readonly json?: unknown } = {},
  onText: (text: string) => void = () => {},
): Effect.Effect<Answer> =>
  Effect.promise(async () => {
    const { json, token, ...rest } = init
    const response = await fetch(url, {
      ...rest,
      ...(json === undefined ? {} : { method: "POST", body: JSON.stringify(json) }),
      headers: {
        accept: "application/json, text/event-stream",
        ...(json === undefined ? {} : { "content-type": "application/json" }),
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(rest.headers as Record<string, string> | undefined),
      },
    })
    return {
      status: response.status,
      headers: response.headers,
      text: await readAll(response, onText),
    }
  })
