import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { refuseTakenPorts } from '../src/refuse-taken-ports.ts'
import { readSettings } from '../src/settings.ts'

async function port(isOpen: boolean): Promise<string> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port: number } = server.address() as AddressInfo
  if (isOpen) onTestFinished(() => void server.close())
  else await new Promise((resolve) => server.close(resolve))
  return String(number)
}

test('every port that is taken is named with its variable before anything starts', async () => {
  const env: Record<string, string> = {}
  for (const name of ['WORKER', 'FUNCTIONS', 'ROUTER', 'CONSOLE']) env[`TERRANE_${name}_PORT`] = await port(false)
  env['TERRANE_ORIGIN_PORT'] = await port(true)
  env['TERRANE_DATABASE_PORT'] = await port(true)
  await expect(refuseTakenPorts(readSettings(env))).rejects.toMatchObject({
    code: 'PORT_TAKEN',
    message: expect.stringMatching(/ORIGIN_PORT.*DATABASE_PORT/) as string,
  })
  const onServer = readSettings({ ...env, DATABASE_URL: 'postgres://somewhere' })
  await expect(refuseTakenPorts(onServer)).rejects.toThrow(
    /^Something already listens on \d+ \(TERRANE_ORIGIN_PORT\)\.$/,
  )
  await refuseTakenPorts(readSettings({ ...env, DATABASE_URL: 'postgres://x', TERRANE_ORIGIN_PORT: await port(false) }))
})
