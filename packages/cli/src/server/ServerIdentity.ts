/** What the response to `initialize` says about the machine. */
import { platform } from "node:os"
import type { AppServerOptions } from "@colloquy/server/AppServer"

/** The names of systems in the words of the original. */
const names: Readonly<Record<string, string>> = { darwin: "macos", win32: "windows" }

/** @param stateDirectory directory with the configuration and the conversations, absolute */
export const serverIdentity = (
  stateDirectory: string,
): NonNullable<AppServerOptions["identity"]> => {
  const system = platform()
  return {
    codexHome: stateDirectory,
    platformFamily: system === "win32" ? "windows" : "unix",
    platformOs: names[system] ?? system,
  }
}
