ALTER TABLE templates DROP CONSTRAINT files_are_texts;

ALTER TABLE templates ADD CONSTRAINT files_are_texts
    CHECK (jsonb_typeof(files) = 'object' AND (files ? main OR files ? split_part(main, '#', 1)));

ALTER TABLE run_templates DROP CONSTRAINT run_templates_check;

ALTER TABLE run_templates ADD CONSTRAINT run_files_are_texts
    CHECK (jsonb_typeof(files) = 'object' AND (files ? main OR files ? split_part(main, '#', 1)));
