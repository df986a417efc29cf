import { addHealth, createHttp, createLogger, readSettings, type Http } from '@terrane/service'
import { Type } from 'typebox'

const variables = { GREETING: Type.String({ default: 'Hello', description: 'First word.' }) }

/** A whole app: settings, log, problem answers, health. `serve(app, config, logger)` would listen and shut down. */
export function buildGreeter(env: Record<string, string>): Http {
  const config = readSettings({ app: 'greeter', variables, file: {} }, env)
  const app = createHttp({ logger: createLogger({ name: 'greeter', level: config.LOG_LEVEL }) })
  addHealth(app, {})
  const schema = { params: Type.Object({ name: Type.String({ maxLength: 20 }) }) }
  app.get('/greet/:name', { schema }, async (request) => ({ text: `${config.GREETING}, ${request.params.name}` }))
  return app
}
