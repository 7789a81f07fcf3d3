/** Facts about the process's environment, read once at the start. They include no secrets, only whether one is set. */
import { homedir, userInfo } from "node:os"
import { basename, isAbsolute, join, resolve } from "node:path"
import { statSync } from "../server/StartFiles.ts"

/** See the header. */
export interface Environment {
  /** Absolute path of the current directory, or of the one that `-C` names; empty if the current directory was removed. */
  readonly cwd: string
  /** Directory of `config.toml`: `COLLOQUY_HOME`, else `CODEX_HOME`, else `~/.colloquy`. */
  readonly stateDirectory: string
  /**
   * Every directory that may contain credentials and conversations of Colloquy or of the original, in use or not. Absolute
   * paths without duplicates, the state directory first.
   */
  readonly hiddenDirectories: ReadonlyArray<string>
  /** Absolute path of the original's directory: `CODEX_HOME`, else `~/.codex`; absent if it is the state directory. */
  readonly originalDirectory?: string
  /** True if OPENAI_API_KEY, OPENAI_BASE_URL or an `auth.json` exists: then `openai` is the provider if none is configured. */
  readonly openaiConfigured: boolean
  /** `OPENAI_API_KEY` is set. */
  readonly hasOpenaiKey: boolean
  /** Login shell of the process's user, from the password database; absent if it is another one. */
  readonly shell?: "bash" | "zsh"
  readonly openaiBaseUrl?: string
  readonly ossBaseUrl?: string
  /** The value of `COLLOQUY_LOG`: the minimum level of the log. */
  readonly logLevel?: string
}

type Variables = Readonly<Record<string, string | undefined>>

/** The value of a variable; undefined if it is not set or blank. */
const set = (variables: Variables, name: string): string | undefined => {
  const value = variables[name]?.trim()
  return value === undefined || value === "" ? undefined : value
}

/** An address without its trailing slashes, as providers expect it. */
const setUrl = (variables: Variables, name: string): string | undefined =>
  set(variables, name)?.replace(/\/+$/, "")

const ossUrl = (variables: Variables): string | undefined => {
  const port = set(variables, "CODEX_OSS_PORT")
  return (
    setUrl(variables, "CODEX_OSS_BASE_URL") ??
    (port === undefined ? undefined : `http://localhost:${port}/v1`)
  )
}

/** Derives the facts from variables and the place of the process. Pure. */
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

/** The shell at a path; undefined if the prompt has no text for it. */
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

/** The home directory. Users without one, as in containers, get `/`, never a path that depends on the current directory. */
const home = (): string => {
  const path = orElse(homedir, "/")
  return isAbsolute(path) ? path : "/"
}

/**
 * The path of the `auth.json` in a directory; undefined if it does not exist. A file that cannot be examined counts as
 * existing, so that reading it reports the error.
 */
const loginIn = (directory: string): string | undefined => {
  const path = join(directory, "auth.json")
  try {
    return statSync(path, { throwIfNoEntry: false }) === undefined ? undefined : path
  } catch {
    return path
  }
}

/** True if a login is stored now. A client may have logged in since the process started. */
export const isLoggedIn = ({ stateDirectory }: Pick<Environment, "stateDirectory">): boolean =>
  loginIn(stateDirectory) !== undefined

/** Path of the login that the original has stored now; undefined if there is none. */
export const originalLogin = ({
  originalDirectory,
}: Pick<Environment, "originalDirectory">): string | undefined =>
  originalDirectory === undefined ? undefined : loginIn(originalDirectory)

/** The environment of this process. @param directory replaces the current directory, to which it may be relative */
export const read = (directory?: string): Environment => {
  const current = orElse(() => process.cwd(), "")
  const environment = fromVariables(process.env, {
    cwd: current === "" || directory === undefined ? current : resolve(current, directory),
    home: home(),
    shell: orElse(() => userInfo().shell ?? "", ""),
  })
  return isLoggedIn(environment) ? { ...environment, openaiConfigured: true } : environment
}
