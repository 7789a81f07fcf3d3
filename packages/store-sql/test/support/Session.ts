/** A connection of `psql` that stays open between statements. */
import { type ChildProcess, spawn } from "node:child_process"
import { createInterface } from "node:readline"

/** One session. */
export class Session {
  private readonly process: ChildProcess
  private readonly lines: AsyncIterator<string>
  private readonly ended: Promise<void>

  constructor(folder: string, database: string) {
    const args = ["-h", folder, "-U", "postgres", "-d", database, "-X", "-q", "-A", "-t"]
    const process = spawn("psql", args, { stdio: ["pipe", "pipe", "ignore"] })
    this.process = process
    this.lines = createInterface(process.stdout)[Symbol.asyncIterator]()
    this.ended = new Promise((done) => void process.once("close", () => done()))
  }

  /** Resolves when the statements have run: true, or false when the server did not let the session in. */
  async run(statements: string): Promise<boolean> {
    this.process.stdin?.on("error", () => {})
    this.process.stdin?.write(`${statements};\n\\echo done\n`)
    for (;;) {
      const { done, value } = await this.lines.next()
      if (done === true) return false
      if (value === "done") return true
    }
  }

  /** Ends the session, and with it its transaction. */
  async end(): Promise<void> {
    this.process.stdin?.end()
    await this.ended
  }
}
