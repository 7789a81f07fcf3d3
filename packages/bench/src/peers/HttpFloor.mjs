/** What Node itself needs for the requests of the benchmark over HTTP: reads the body and writes the bytes of the response. */
import { createServer } from "node:http"
import { tellPort } from "./HttpPeer.ts"
import { respondTo } from "./FloorResponses.ts"

const server = createServer((request, response) => {
  const chunks = []
  request.on("data", (chunk) => chunks.push(chunk))
  request.on("end", () => {
    const { body, headers, status } = respondTo(Buffer.concat(chunks).toString("utf8"))
    response.writeHead(status, { ...headers, "content-length": Buffer.byteLength(body) })
    response.end(body)
  })
})

tellPort(server).listen(0, "127.0.0.1")
