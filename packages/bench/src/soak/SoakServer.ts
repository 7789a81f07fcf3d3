/** One of the servers of the soak: the built program on a port, which is killed and started again. */
import { type ChildProcess, spawn } from "node:child_process"
import { readFileSync } from "node:fs"

/** A server on a port of its own; every process of it has the same port. */
export class SoakServer {
  private port = 0
  private child: ChildProcess | undefined
  private readonly entry: string
  private readonly environment: Readonly<Record<string, string>>

  /** @param environment selects the state directory that the servers share */
  constructor(entry: string, environment: Readonly<Record<string, string>>) {
    this.entry = entry
    this.environment = environment
  }

  /** Address without a slash at its end. */
  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  /** Starts a process and resolves when it listens. */
  start(): Promise<void> {
    const listen = `http://127.0.0.1:${this.port}`
    const child = spawn(process.execPath, [this.entry, "serve", "--listen", listen], {
      env: { ...process.env, ...this.environment },
      stdio: ["ignore", "pipe", "inherit"],
    })
    this.child = child
    return new Promise((resolve, reject) => {
      let text = ""
      child.once("close", () => reject(new Error(`a server has ended: ${text}`)))
      child.stdout.setEncoding("utf8").on("data", (part: string) => {
        text += part
        const port = /^Listening on http:\/\/127\.0\.0\.1:(\d+)$/m.exec(text)?.[1]
        if (port === undefined) return
        this.port = Number(port)
        resolve()
      })
    })
  }

  /** Kills the process in whatever it is doing, and resolves when it is gone. */
  kill(): Promise<void> {
    const { child } = this
    if (child === undefined || child.exitCode !== null) return Promise.resolve()
    return new Promise((resolve) => {
      child.once("close", () => resolve())
      child.kill("SIGKILL")
    })
  }

  /** Processor time of the process so far; 0 on systems without `/proc`. */
  cpuMs(): number {
    try {
      const stat = readFileSync(`/proc/${this.child?.pid ?? 0}/stat`, "utf8")
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
      // In hundredths of a second, on every Linux that Node runs on.
      return (Number(fields[11]) + Number(fields[12])) * 10
    } catch {
      return 0
    }
  }

  /** Resident bytes of the process; 0 on systems without `/proc`. */
  residentBytes(): number {
    try {
      const status = readFileSync(`/proc/${this.child?.pid ?? 0}/status`, "utf8")
      return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024
    } catch {
      return 0
    }
  }
}
