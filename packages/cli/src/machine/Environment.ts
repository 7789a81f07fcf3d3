/** The facts this program takes from its environment, read once at the start. Holds no secret: only whether one is there. */
import { homedir, userInfo } from "node:os"
import { basename, isAbsolute, join, resolve } from "node:path"
import { statSync } from "../server/StartFiles.ts"

export interface Environment {
  /** The directory of the process, absolute; empty when it was removed under the process. */
  readonly cwd: string
  /** Where `config.toml` lies: `COLLOQUY_HOME`, else `CODEX_HOME`, else `~/.colloquy` (design §6). */
  readonly stateDirectory: string
  /**
   * Every directory that may hold the credentials and conversations of Colloquy or of the original, whichever of them is
   * in use: absolute, each once, the one in use first.
   */
  readonly hiddenDirectories: ReadonlyArray<string>
  /** Directory of the original, `CODEX_HOME`, else `~/.codex`; absent where it is the state directory. Absolute. */
  readonly originalDirectory?: string
  /** An OpenAI key, login or address of our own is there: then `openai` is the provider where none is configured. */
  readonly openaiConfigured: boolean
  /** `OPENAI_API_KEY` is set. */
  readonly hasOpenaiKey: boolean
  /** The login shell of whoever runs the process, by the password database, where it is one of these (§6.2). */
  readonly shell?: "bash" | "zsh"
  readonly openaiBaseUrl?: string
  readonly ossBaseUrl?: string
  /** Least level of the log, as `COLLOQUY_LOG` says it. */
  readonly logLevel?: string
}

type Variables = Readonly<Record<string, string | undefined>>

/** A variable that is set and not blank; a blank one is as good as none (§7.5). */
const set = (variables: Variables, name: string): string | undefined => {
  const value = variables[name]?.trim()
  return value === undefined || value === "" ? undefined : value
}

/** An address without the slash at its end, as providers have it. */
const setUrl = (variables: Variables, name: string): string | undefined =>
  set(variables, name)?.replace(/\/+$/, "")

const ossUrl = (variables: Variables): string | undefined => {
  const port = set(variables, "CODEX_OSS_PORT")
  return (
    setUrl(variables, "CODEX_OSS_BASE_URL") ??
    (port === undefined ? undefined : `http://localhost:${port}/v1`)
  )
}

export const fromVariables = (
  variables: Variables,
  place: { readonly cwd: string; readonly home: string; readonly shell?: string },
): Environment => {
  const openaiBaseUrl = setUrl(variables, "OPENAI_BASE_URL")
  const ossBaseUrl = ossUrl(variables)
  const logLevel = set(variables, "COLLOQUY_LOG")
  const shell = shellOf(place.shell)
  const hasOpenaiKey = set(variables, "OPENAI_API_KEY") !== undefined
  const [ownHome, originalHome] = [set(variables, "COLLOQUY_HOME"), set(variables, "CODEX_HOME")]
  const ownDefault = join(place.home, ".colloquy")
  const stateDirectory = ownHome ?? originalHome ?? ownDefault
  const places = [stateDirectory, ownHome, originalHome, ownDefault, join(place.home, ".codex")]
  const absolute = (path: string) => resolve(place.cwd || "/", path)
  const originalDirectory = absolute(originalHome ?? join(place.home, ".codex"))
  return {
    cwd: place.cwd,
    stateDirectory,
    hiddenDirectories: [
      ...new Set(places.flatMap((path) => (path === undefined ? [] : absolute(path)))),
    ],
    ...(originalDirectory === absolute(stateDirectory) ? {} : { originalDirectory }),
    openaiConfigured: openaiBaseUrl !== undefined || hasOpenaiKey,
    hasOpenaiKey,
    ...(openaiBaseUrl === undefined ? {} : { openaiBaseUrl }),
    ...(ossBaseUrl === undefined ? {} : { ossBaseUrl }),
    ...(logLevel === undefined ? {} : { logLevel }),
    ...(shell === undefined ? {} : { shell }),
  }
}

/** The shell at a path, where it is one that the model is told of. */
const shellOf = (path: string | undefined): Environment["shell"] => {
  const name = path === undefined ? "" : basename(path)
  return name === "bash" || name === "zsh" ? name : undefined
}

const orElse = (read: () => string, fallback: string): string => {
  try {
    return read()
  } catch {
    return fallback
  }
}

/** A user without a name or a home, as containers have them, has `/`; never a place that depends on the directory. */
const home = (): string => {
  const path = orElse(homedir, "/")
  return isAbsolute(path) ? path : "/"
}

/**
 * The path of the `auth.json` in a directory, unless there is none. A file that cannot be examined is there: reading it
 * gives the error.
 */
const loginIn = (directory: string): string | undefined => {
  const path = join(directory, "auth.json")
  try {
    return statSync(path, { throwIfNoEntry: false }) === undefined ? undefined : path
  } catch {
    return path
  }
}

/** Whether a login is stored now: a client may have logged in since the process began. */
export const isLoggedIn = ({ stateDirectory }: Pick<Environment, "stateDirectory">): boolean =>
  loginIn(stateDirectory) !== undefined

/** File of a login that the original has stored now; undefined without one. */
export const originalLogin = ({
  originalDirectory,
}: Pick<Environment, "originalDirectory">): string | undefined =>
  originalDirectory === undefined ? undefined : loginIn(originalDirectory)

/** The environment of this process. `directory` takes the place of its current directory, from which it may be relative. */
export const read = (directory?: string): Environment => {
  const current = orElse(() => process.cwd(), "")
  const environment = fromVariables(process.env, {
    cwd: current === "" || directory === undefined ? current : resolve(current, directory),
    home: home(),
    shell: orElse(() => userInfo().shell ?? "", ""),
  })
  return isLoggedIn(environment) ? { ...environment, openaiConfigured: true } : environment
}
