/** The picture of the packages, packages/docs/pictures/packages.svg. Pure. */
import { arrow, type Box, box, label, picture } from "./Svg.ts"

const height = 46

const at = (text: string, x: number, y: number, width: number, note?: string): Box => ({
  text,
  x,
  y,
  width,
  height,
  ...(note === undefined ? {} : { note }),
})

const rows = { programs: 24, agent: 110, middle: 200, core: 296, protocol: 386 }

const everything = at("cli  ·  bench  ·  examples", 24, rows.programs, 892, "may import everything")
const agent = at("agent", 176, rows.agent, 606, "the embedding API")
const cluster = at("cluster", 806, rows.agent, 110, "several nodes")
const http = at("transport-http", 24, rows.middle, 128)
const server = at("server", 176, rows.middle, 110)
const models = at("models", 300, rows.middle, 74)
const tools = at("tools", 386, rows.middle, 66)
const store = at("store  ·  store-sql", 464, rows.middle, 130)
const config = at("config", 606, rows.middle, 64)
const stdio = at("transport-stdio", 680, rows.middle, 130)
const client = at("client", 826, rows.middle, 90)
const jsonSchema = at("json-schema", 24, rows.core, 128)
const core = at("core", 176, rows.core, 488, "conversations, and the ports of what they use")
const protocol = at("protocol", 176, rows.protocol, 740, "definitions of methods and events")
const forTests = at(
  "testing  ·  simulation",
  24,
  476,
  892,
  "for tests: import protocol, core, server, client, models and store",
)

const middleOf = ({ width, x }: Box): number => x + width / 2

/** Straight down from one box to another. */
const down = (from: Box, to: Box): string =>
  arrow({ x: middleOf(from), y: from.y + height }, { x: middleOf(from), y: to.y })

const boxes = [
  everything,
  agent,
  cluster,
  http,
  server,
  models,
  tools,
  store,
  config,
  stdio,
  client,
].concat([jsonSchema, core, protocol, forTests])

const fromAgent = [server, models, tools, store, stdio]

/** The file. */
export const packagesPicture = (): string =>
  picture(
    { width: 940, height: 546 },
    "The packages, and which of them imports which",
    boxes.map(box).concat(
      [server, models, tools, store, config].map((one) => down(one, core)),
      fromAgent.map((one) =>
        arrow({ x: middleOf(one), y: agent.y + height }, { x: middleOf(one), y: one.y }),
      ),
      [down(core, protocol), down(stdio, protocol), down(client, protocol)],
      arrow({ x: middleOf(agent), y: everything.y + height }, { x: middleOf(agent), y: agent.y }),
      arrow(
        { x: http.x + http.width, y: http.y + height / 2 },
        { x: server.x, y: server.y + height / 2 },
      ),
      arrow({ x: server.x + 12, y: server.y + height }, { x: jsonSchema.x + 96, y: jsonSchema.y }),
      label({ x: 397, y: 276 }, "ports only"),
    ),
  )
