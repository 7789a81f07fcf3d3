/**
 * The entry: parses the command line and runs the command that it names. Commands are imported dynamically, so that each
 * loads only what it needs.
 *
 * Exit codes: 0 done, 1 the command failed, 2 the command line is not valid. This file prints only the help page on stdout.
 */
import * as Result from "effect/Result"
import * as Args from "./args/Args.ts"
import { isForPeople, peopleCommands } from "./args/PeopleCommands.ts"
import { withoutStacks } from "./WithoutStacks.ts"

/**
 * Handles errors of stdout for a command that prints. A reader that closes the pipe early (`| head`) is no failure; any
 * other error is reported.
 */
const watchStdout = () => {
  process.stdout.on("error", ({ code, message }: NodeJS.ErrnoException) => {
    if (code === "EPIPE") process.exit(0)
    process.stderr.write(`colloquy: stdout cannot be written (${code ?? message})\n`)
    process.exit(1)
  })
}

const prints: ReadonlySet<Args.Invocation["_tag"]> = new Set([
  "Help",
  "Version",
  "Config",
  "Generate",
  "Doctor",
])

/** Prints the page of the program, or of the command that is named. */
const showHelp = async ({
  topic: [name, ...rest] = [],
}: Extract<Args.Invocation, { readonly _tag: "Help" }>): Promise<number> => {
  if (name !== undefined && peopleCommands.has(name)) {
    const root = await import("./terminal/Root.ts")
    return root.run([name, ...rest, "--help"])
  }
  const { help } = await import("./commands/Help.ts")
  const page =
    name === undefined ? undefined : (await import("./commands/CommandHelp.ts")).commandHelp(name)
  process.stdout.write(page ?? help)
  return 0
}

const run = async (invocation: Args.Invocation): Promise<number> => {
  switch (invocation._tag) {
    case "Help": {
      return showHelp(invocation)
    }
    case "Version": {
      const command = await import("./commands/VersionCommand.ts")
      return command.run(invocation)
    }
    case "Mcp": {
      const mcp = await withoutStacks(() => import("./commands/Mcp.ts"))
      return mcp.run(invocation)
    }
    case "AppServer": {
      const appServer = await withoutStacks(() => import("./commands/AppServerCommand.ts"))
      return appServer.run(invocation)
    }
    case "Serve": {
      return (await import("./commands/ServeCommand.ts")).run(invocation)
    }
    case "Demo": {
      const demo = await import("./commands/DemoCommand.ts")
      return demo.run(invocation)
    }
    case "Config": {
      const config = await import("./commands/ConfigCommand.ts")
      return config.run(invocation)
    }
    case "Generate": {
      const generate = await import("./commands/GenerateCommand.ts")
      return generate.run(invocation.format, invocation)
    }
    case "Doctor": {
      const doctor = await import("./commands/Doctor.ts")
      return doctor.run(invocation)
    }
  }
}

/** Runs the command of the process's arguments. Resolves when it has ended; `process.exitCode` says how. */
export const main = async (): Promise<void> => {
  const words = process.argv.slice(2)
  if (isForPeople(words)) {
    watchStdout()
    const root = await import("./terminal/Root.ts")
    process.exitCode = await root.run(words)
    return
  }
  const invocation = Args.parse(words)
  if (Result.isFailure(invocation)) {
    const { spelledOut } = await import("@colloquy/core/question/VisibleText")
    const message = spelledOut(invocation.failure.message)
    process.stderr.write(`colloquy: ${message}; see \`colloquy --help\`\n`)
    process.exitCode = 2
    return
  }
  if (prints.has(invocation.success._tag)) watchStdout()
  process.exitCode = await run(invocation.success)
}
