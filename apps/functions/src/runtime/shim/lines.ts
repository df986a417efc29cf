import type { GlobalEvents } from './events.ts'
import type { HostChannel } from './host-channel.ts'

/** The lines of a stream, without their ends. */
export async function* readLines(stdin: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let held = ''
  for await (const chunk of stdin) {
    const parts = (held + decoder.decode(chunk, { stream: true })).split('\n')
    held = parts.pop()!
    yield* parts
  }
}

/** Answers the watchdog's pings; exits when the host asks for it or has ended. */
export async function obey(
  lines: AsyncGenerator<string>,
  channel: HostChannel,
  events: GlobalEvents,
  exit: () => void,
): Promise<void> {
  for await (const line of lines) {
    const [word, rest = ''] = line.split(' ')
    if (word === 'ping') channel.send({ t: 'pong', n: Number(rest) })
    else if (word === 'end') void events.unload(rest).finally(exit)
  }
  exit()
}
