"""Alembic's environment for every service.

It runs on the connection that ``servicekit.upgrade`` passes, or writes SQL.
"""

from alembic import context

if context.is_offline_mode():
    context.configure(
        dialect_name="postgresql",
        transactional_ddl=False,
        output_buffer=context.config.output_buffer,
    )
else:
    connection = context.config.attributes["connection"]
    context.configure(connection=connection, target_metadata=None, transaction_per_migration=True)
with context.begin_transaction():
    context.run_migrations()
